"""Structures, one file each; importing this package puts all of them into the registry."""

from synthprobe_models.layers import (  # noqa: F401
    coord_conv,
    deformable,
    global_average_pooling,
    global_context,
    lambda_layer,
    lambda_tt,
    local_lambda,
)

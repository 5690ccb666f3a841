"""Structures, one file each; importing this package puts all of them into the registry."""
# ruff: noqa: F401, I001 - imported for the registry, in the order of the tables

from __future__ import annotations

from synthprobe_models.layers import global_context
from synthprobe_models.layers import global_average_pooling
from synthprobe_models.layers import deformable
from synthprobe_models.layers import lambda_layer
from synthprobe_models.layers import lambda_tt
from synthprobe_models.layers import coord_conv
from synthprobe_models.layers import local_lambda
from synthprobe_models.layers import transformer
from synthprobe_models.layers import mlp_mixer
from synthprobe_models.layers import nystromformer
from synthprobe_models.layers import linformer
from synthprobe_models.layers import reformer
from synthprobe_models.layers import window_attention
from synthprobe_models.layers import ssa
from synthprobe_models.layers import encoder
from synthprobe_models.layers import decoder
from synthprobe_models.layers import squeeze_and_excitation
from synthprobe_models.layers import residual
from synthprobe_models.layers import bottleneck
from synthprobe_models.layers import inception
from synthprobe_models.layers import inception_resnet
from synthprobe_models.layers import resnext
from synthprobe_models.layers import mobilenet_v2
from synthprobe_models.layers import aspp
from synthprobe_models.layers import convnext

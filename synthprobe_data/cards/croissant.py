"""The card for machines: Croissant 1.1, a JSON-LD vocabulary for machine learning datasets.

With it come the properties of its extension for responsible AI (RAI 1.0): how the data was made,
what it is for and what not.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from synthprobe_data.cards.facts import CardFacts, FileFacts, find_licence
from synthprobe_data.cards.ours import CREATOR
from synthprobe_data.cards.words import HOME, MAINTENANCE, NOTHING_OF_OTHERS, files_state
from synthprobe_data.shards.layout import Column
from synthprobe_data.shards.selection import column_meanings

HDF5: Final = "application/x-hdf5"
CONFORMS_TO: Final = (
    "http://mlcommons.org/croissant/1.1",
    "http://mlcommons.org/croissant/RAI/1.0",
)

# The terms of the specification of Croissant 1.1, and what mlcroissant misses otherwise; `prov` is
# the vocabulary of provenance that the specification recommends.
CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "annotation": "cr:annotation",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "excludes": "cr:excludes",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "readLines": "cr:readLines",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "sdVersion": "cr:sdVersion",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
    "unArchive": "cr:unArchive",
    "value": "cr:value",
}

_SHARDS: Final = "shards"
_KINDS: Final = {"i": "Int", "u": "UInt", "f": "Float"}


def render_croissant(facts: CardFacts) -> dict[str, Any]:
    """The Croissant description of a dataset.

    It lists every file with its SHA-256, and every array of a sample with type and shape. Croissant
    has no word yet for the datasets of HDF5, and no reader of it opens them: as the source of an
    array they are named as columns, as those of a CSV file are.
    """
    about = facts.dataset.card
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": facts.dataset.title,
        "description": f"{about.summary} Content digest {facts.content_digest}."
        + (
            f" Selected from the dataset with the content digest {facts.selection.selected_from}: "
            f"{facts.selection.selection}."
            if facts.selection
            else ""
        ),
        "url": HOME,
        "version": facts.version,
        "license": find_licence(facts.dataset.license).url,
        "citeAs": facts.dataset.citation.strip(),
        "creator": {"@type": "sc:Organization", "name": CREATOR},
        "datePublished": facts.date,
        "isLiveDataset": False,
        "keywords": list(about.tags),
        **_responsible(facts),
        "distribution": [
            *(_file_object(file) for file in facts.files),
            *([_file_set()] if facts.card_path_kind == "folder" else []),
        ],
        "recordSet": [_splits(facts), _samples(facts)],
    }


def _responsible(facts: CardFacts) -> dict[str, Any]:
    """How the data was made, what it is for and what not: RAI 1.0, and its provenance."""
    about, program = facts.dataset.card, f"synthprobe {facts.package_version}"
    made = (
        f"A program made every sample: the dataset {facts.dataset.name}, version {facts.version}, "
        f"with the seed {facts.seed} and the settings {json.dumps(facts.config.to_dict())}. "
        "Nothing was photographed, measured or collected."
    )
    if facts.known:
        by = f" The program was {program}."
    else:
        by = (
            f" That is what {files_state(facts)}; nobody made the samples again to compare. "
            f"{program} wrote this description."
        )
    command = f" This command makes the same samples: {facts.same_rows}" if facts.same_rows else ""
    return {
        # Not in RAI 1.0, but asked for by conferences.
        "rai:hasSyntheticData": True,
        "rai:dataCollection": made + by + command,
        "rai:dataCollectionType": ["Others: made by a program"],
        "rai:dataAnnotationProtocol": (
            "Nobody annotated anything. The program knows the answer of each sample, for it made "
            "the sample by the rules of the dataset; `synthprobe-shards verify` checks these rules."
        ),
        "rai:dataUseCases": list(about.good_for),
        "rai:dataLimitations": [f"It is not for this: {item}" for item in about.not_for],
        "rai:dataBiases": [
            "Samples are distributed as the settings say, not as anything in the world is. The "
            "card counts what there is of each kind."
        ],
        "rai:personalSensitiveInformation": [f"None. {NOTHING_OF_OTHERS}"],
        "rai:dataSocialImpact": (
            "None is known: samples show nothing of the world. Who trains on them learns what a "
            "structure can do, not whether a product is fit for use."
        ),
        "rai:dataReleaseMaintenancePlan": MAINTENANCE,
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "prov:label": f"Generation of the dataset {facts.dataset.name} {facts.version}",
        },
    }


def _file_object(file: FileFacts) -> dict[str, Any]:
    splits = " and ".join(
        f"{name} in rows {start} to {stop - 1}" for name, (start, stop) in file.split_rows.items()
    )
    return {
        "@type": "cr:FileObject",
        "@id": _file_id(file),
        "name": file.name,
        "description": f"Samples of {splits}. Content digest {file.content_digest}.",
        "contentUrl": file.name,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": HDF5,
        "sha256": file.sha256,
    }


def _file_id(file: FileFacts) -> str:
    """The name without spaces, which an ``@id`` may not have."""
    return re.sub(r"[^\w.-]", "_", file.name)


def _file_set() -> dict[str, Any]:
    """All shards of a folder, as the one source of its samples."""
    return {
        "@type": "cr:FileSet",
        "@id": _SHARDS,
        "name": _SHARDS,
        "description": "All files with samples.",
        "encodingFormat": HDF5,
        "includes": "*.h5",
    }


def _splits(facts: CardFacts) -> dict[str, Any]:
    """A record set whose data stands in the description: the splits."""
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "description": "The splits and their sizes.",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [
            _field("splits", "name", "The name of the split.", "sc:Text"),
            _field("splits", "samples", "How many samples it has.", "sc:Integer"),
        ],
        "data": [
            {"splits/name": name, "splits/samples": size} for name, size in facts.splits.items()
        ],
    }


def _samples(facts: CardFacts) -> dict[str, Any]:
    """What a sample consists of: each array with its type and its shape."""
    meanings = column_meanings(facts.dataset)
    if facts.card_path_kind == "folder":
        files = {"fileSet": {"@id": _SHARDS}}
    else:
        files = {"fileObject": {"@id": _file_id(facts.files[0])}}
    return {
        "@type": "cr:RecordSet",
        "@id": "samples",
        "name": "samples",
        "description": "What a sample consists of. Every file has an HDF5 dataset for each field, "
        "under the same name, with one row for each sample.",
        "field": [
            {
                **_field("samples", column.name, meanings[column.name], _data_type(column)),
                **_array(column.shape),
                "source": {**files, "extract": {"column": column.name}},
            }
            for column in facts.columns
        ],
    }


def _field(record_set: str, name: str, description: str, kind: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "description": description,
        "dataType": kind,
    }


def _array(shape: tuple[int, ...]) -> dict[str, Any]:
    return {"isArray": True, "arrayShape": ",".join(map(str, shape))} if shape else {}


def _data_type(column: Column) -> str:
    """As Croissant names it, such as ``cr:UInt8``."""
    if column.dtype.kind == "b":
        return "sc:Boolean"
    return f"cr:{_KINDS[column.dtype.kind]}{8 * column.dtype.itemsize}"

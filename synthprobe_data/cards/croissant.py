"""The card for machines: Croissant 1.0, a JSON-LD vocabulary for machine learning datasets."""

from __future__ import annotations

import re
from typing import Any, Final

from synthprobe_data.cards.facts import CardFacts, FileFacts, find_licence
from synthprobe_data.cards.ours import CREATOR
from synthprobe_data.shards.selection import column_meanings

HDF5: Final = "application/x-hdf5"

# As the specification of Croissant 1.0 has it, word for word; other contexts earn a warning.
CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def render_croissant(facts: CardFacts) -> dict[str, Any]:
    """The Croissant description of a dataset.

    It lists every file with its SHA-256. Croissant has no way yet to reach into HDF5, so the
    samples are not a record set; two small ones, whose data stands in the description itself, name
    the splits and the datasets of the files.
    """
    about = facts.dataset.card
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.dataset.title,
        "description": f"{about.summary} Content digest {facts.content_digest}."
        + (
            f" Selected from the dataset with the content digest {facts.selection.selected_from}: "
            f"{facts.selection.selection}."
            if facts.selection
            else ""
        ),
        "version": facts.version,
        "license": find_licence(facts.dataset.license).url,
        "citeAs": facts.dataset.citation.strip(),
        "creator": {"@type": "sc:Organization", "name": CREATOR},
        "datePublished": facts.date,
        "isLiveDataset": False,
        "keywords": list(about.tags),
        "distribution": [_file_object(file) for file in facts.files],
        "recordSet": [
            _record_set(
                "splits",
                "The splits and their sizes.",
                {"name": "sc:Text", "samples": "sc:Integer"},
                [(name, size) for name, size in facts.splits.items()],
            ),
            _record_set(
                "datasets",
                "The HDF5 datasets of every file; each has one row for each sample.",
                {"name": "sc:Text", "type": "sc:Text", "shape": "sc:Text", "meaning": "sc:Text"},
                [
                    (
                        column.name,
                        column.dtype.name,
                        " x ".join(map(str, column.shape)) or "1",
                        column_meanings(facts.dataset)[column.name],
                    )
                    for column in facts.columns
                ],
            ),
        ],
    }


def _file_object(file: FileFacts) -> dict[str, Any]:
    splits = " and ".join(
        f"{name} in rows {start} to {stop - 1}" for name, (start, stop) in file.split_rows.items()
    )
    return {
        "@type": "cr:FileObject",
        "@id": re.sub(r"[^\w.-]", "_", file.name),  # an @id has no spaces
        "name": file.name,
        "description": f"Samples of {splits}. Content digest {file.content_digest}.",
        "contentUrl": file.name,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": HDF5,
        "sha256": file.sha256,
    }


def _record_set(
    name: str, description: str, fields: dict[str, str], rows: list[tuple[Any, ...]]
) -> dict[str, Any]:
    """A record set whose data stands in the description; the first field is its key."""
    ids = [f"{name}/{field}" for field in fields]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": description,
        "key": {"@id": ids[0]},
        "field": [
            {"@type": "cr:Field", "@id": id_, "name": field, "dataType": kind}
            for id_, (field, kind) in zip(ids, fields.items(), strict=True)
        ],
        "data": [dict(zip(ids, row, strict=True)) for row in rows],
    }

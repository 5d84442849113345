"""Writes what the container image has besides the program, as CycloneDX JSON: the Debian packages that its libraries and certificates are
from.

  packaging/image/sbom.py ROOT.tar VERSION
"""

import json
import sys
import tarfile
import uuid

PACKAGES = ("libc6", "gcc-12-base", "libgcc-s1", "libstdc++6", "ca-certificates")


def packages(path: str) -> list[dict[str, str]]:
    # They were only unpacked, so what tells their versions are the archives that they came in.
    with tarfile.open(path) as root:
        archives = [name.rsplit("/", 1)[-1] for name in root.getnames() if name.endswith(".deb")]
    return [dict(zip(("name", "version", "architecture"), archive[:-4].split("_"))) for archive in archives]


def main() -> None:
    found = sorted((one for one in packages(sys.argv[1]) if one["name"] in PACKAGES), key=lambda one: one["name"])
    missing = set(PACKAGES) - {one["name"] for one in found}
    if missing:
        sys.exit(f"no version is known of {', '.join(sorted(missing))}")
    components = []
    for one in found:
        purl = "pkg:deb/debian/{name}@{version}?arch={architecture}".format(**one)
        components.append({"type": "library", "bom-ref": purl, "name": one["name"], "version": one["version"], "purl": purl})
    program = f"pkg:generic/atelier@{sys.argv[2]}"
    components.append({"type": "application", "bom-ref": program, "name": "atelier", "version": sys.argv[2], "purl": program,
                       "externalReferences": [{"type": "bom", "url": "atelier.cdx.json"}]})
    serial = uuid.uuid5(uuid.NAMESPACE_URL, " ".join(one["purl"] for one in components))
    json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1,
               "metadata": {"component": {"type": "container", "name": "atelier", "version": sys.argv[2]}},
               "components": components}, sys.stdout, indent=1)
    print()


main()

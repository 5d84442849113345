"""Writes the file system of the container image as a tar archive: the libraries that the program is linked to, the certificates of
public authorities, and the program. The same inputs give the same bytes.

  packaging/image/layer.py ROOT.tar PROGRAM OUT.tar SECONDS

ROOT.tar holds unpacked Debian packages, as `mmdebstrap --variant=extract` makes it. SECONDS is the time of every file.
"""

import io
import posixpath
import sys
import tarfile

# What the program is linked to, and what the C library looks names up with; the rest of those packages stays out.
LIBRARIES = ("ld-linux", "libc.so", "libm.so", "libmvec.so", "libdl.so", "libpthread.so", "librt.so", "libresolv.so", "libnss_dns.so",
             "libnss_files.so", "libgcc_s.so", "libstdc++.so")
PACKAGES = ("libc6", "gcc-12-base", "libgcc-s1", "libstdc++6", "ca-certificates")
FOLDERS = ("lib/", "lib64/", "usr/lib/")
AUTHORITIES = "usr/share/ca-certificates/mozilla/"
UID = 10001


def kept(name: str) -> bool:
    base = posixpath.basename(name)
    if name.startswith("usr/share/doc/"):
        package, _, file = name.removeprefix("usr/share/doc/").partition("/")
        return package in PACKAGES and file == "copyright"
    return name.startswith(FOLDERS) and base.startswith(LIBRARIES)


def main() -> None:
    root_path, program, out_path, seconds = sys.argv[1:5]
    entries: dict[str, tuple[tarfile.TarInfo, bytes]] = {}

    def add(name: str, data: bytes = b"", **fields) -> None:
        entry = tarfile.TarInfo(name)
        entry.mode = 0o755 if fields.get("type") == tarfile.DIRTYPE else 0o644
        for field, value in fields.items():
            setattr(entry, field, value)
        entry.size, entry.mtime = len(data), int(seconds)
        entries[name] = (entry, data)

    authorities = []
    with tarfile.open(root_path) as root:
        for member in root:
            name = posixpath.normpath(member.name)
            if name.startswith(AUTHORITIES) and member.isfile():
                authorities.append((name, root.extractfile(member).read()))
            if not kept(name):
                continue
            data = root.extractfile(member).read() if member.isfile() else b""
            add(name, data, type=member.type, mode=member.mode, linkname=member.linkname)
    # One file with all of them is where programs look.
    bundle = b"".join(data.rstrip(b"\n") + b"\n" for _, data in sorted(authorities))
    add("etc/ssl/certs/ca-certificates.crt", bundle)
    add("etc/passwd", f"root:x:0:0:root:/root:/sbin/nologin\natelier:x:{UID}:{UID}::/data:/sbin/nologin\n".encode())
    add("etc/group", f"root:x:0:\natelier:x:{UID}:\n".encode())
    add("usr/bin/atelier", open(program, "rb").read(), mode=0o755)
    add("data", type=tarfile.DIRTYPE, mode=0o700, uid=UID, gid=UID)
    add("tmp", type=tarfile.DIRTYPE, mode=0o1777)
    for name in list(entries):
        while name := posixpath.dirname(name):
            if name not in entries:
                add(name, type=tarfile.DIRTYPE)
    with tarfile.open(out_path, "w", format=tarfile.GNU_FORMAT) as out:
        for name in sorted(entries):
            entry, data = entries[name]
            out.addfile(entry, io.BytesIO(data))


main()

"""A real directory, OpenLDAP's slapd, with its own files and ports on loopback.

People are below `ou=people`, groups below `ou=groups`; `READER` may search, nobody may
without a name. A password is the name of its person and `PASSWORD`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trustme

from dashboard.accounts.outside import Directory

from .ports import LOOPBACK, free_port
from .process import Process
from .waiting import wait_until

SUFFIX: Final = "dc=example,dc=com"
PEOPLE: Final = f"ou=people,{SUFFIX}"
GROUPS: Final = f"ou=groups,{SUFFIX}"
READER: Final = f"cn=reader,{SUFFIX}"
READERS_PASSWORD: Final = "the reader's password"
PASSWORD: Final = " of the directory"
_PROGRAMS: Final = "/usr/sbin:/usr/lib/openldap:/usr/libexec"
_CONFIGURATION: Final = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
pidfile {folder}/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile {folder}/authority.pem
TLSCertificateFile {folder}/certificate.pem
TLSCertificateKeyFile {folder}/key.pem
database mdb
suffix "{suffix}"
rootdn "cn=root,{suffix}"
rootpw root
directory {folder}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{reader}" read by * none
"""
_ENTRIES: Final = """
dn: {suffix}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: {people}
objectClass: organizationalUnit
ou: people

dn: {groups}
objectClass: organizationalUnit
ou: groups

dn: {reader}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: {readers_password}
"""
_PERSON: Final = """
dn: uid={name},{people}
objectClass: inetOrgPerson
objectClass: posixAccount
uid: {name}
cn: {name}
sn: {name}
mail: {name}@example.com
uidNumber: 1000
gidNumber: 1000
homeDirectory: /
userPassword: {name}{password}
"""


@dataclass(frozen=True)
class Slapd:
    """One that runs: as RocketScope is told of it, and how it is written to."""

    directory: Directory
    tls_url: str
    authority: Path
    process: Process
    added: list[str] = field(default_factory=list)

    def change(self, ldif: str) -> None:
        """Change entries as the directory's root, by ldapmodify."""
        subprocess.run(
            [
                *("ldapmodify", "-x", "-H", self.directory.urls[0]),
                *("-D", f"cn=root,{SUFFIX}", "-w", "root"),
            ],
            input=ldif,
            text=True,
            check=True,
            capture_output=True,
        )

    def add_person(self, name: str) -> str:
        """Add somebody; return their password."""
        entry, attributes = _person(name).split("\n", 1)
        self._add(entry.removeprefix("dn: "), attributes)
        return f"{name}{PASSWORD}"

    def group(self, name: str, *members: str) -> None:
        """Add a group of names; members are people, or names of entries."""
        found = [each if "=" in each else f"uid={each},{PEOPLE}" for each in members]
        lines = "\n".join(f"member: {each}" for each in found)
        attributes = f"objectClass: groupOfNames\ncn: {name}\n{lines}"
        self._add(f"cn={name},{GROUPS}", attributes)

    def posix_group(self, name: str, number: int, *members: str) -> None:
        """Add a group that names its members by what they sign in with."""
        lines = "\n".join(f"memberUid: {each}" for each in members)
        attributes = f"objectClass: posixGroup\ncn: {name}\ngidNumber: {number}"
        self._add(f"cn={name},{GROUPS}", f"{attributes}\n{lines}".strip())

    def remove(self, entry: str) -> None:
        """Delete an entry."""
        self.change(f"dn: {entry}\nchangetype: delete\n")
        self.added.remove(entry)

    def clear(self) -> None:
        """Delete all that was added."""
        for entry in [*self.added]:
            self.remove(entry)

    def _add(self, entry: str, attributes: str) -> None:
        self.change(f"dn: {entry}\nchangetype: add\n{attributes}\n")
        self.added.append(entry)


def missing_program() -> str | None:
    """Say which program is missing to run it, None if none is."""
    found = {"slapd": _program("slapd"), "ldapmodify": shutil.which("ldapmodify")}
    package = {"slapd": "slapd", "ldapmodify": "ldap-utils"}
    return next(
        (f"{n} is missing (Debian: {package[n]})" for n in found if not found[n]), None
    )


@contextmanager
def slapd(folder: Path) -> Iterator[Slapd]:
    """Run one with nobody in it yet."""
    (folder / "data").mkdir(parents=True)
    authority = trustme.CA()
    issued = authority.issue_cert(LOOPBACK, "localhost")
    authority.cert_pem.write_to_path(folder / "authority.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "certificate.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    names = {"suffix": SUFFIX, "people": PEOPLE, "groups": GROUPS, "reader": READER}
    configuration = folder / "slapd.conf"
    configuration.write_text(
        _CONFIGURATION.format(folder=folder, **names).lstrip(), "utf-8"
    )
    server = _program("slapd")
    assert server is not None
    subprocess.run(
        [server, "-Ta", "-f", str(configuration)],
        input=_ENTRIES.format(readers_password=READERS_PASSWORD, **names).lstrip(),
        text=True,
        check=True,
        capture_output=True,
    )
    url = f"ldap://{LOOPBACK}:{free_port()}"
    tls_url = f"ldaps://{LOOPBACK}:{free_port()}"
    process = Process(
        [server, "-d", "0", "-f", str(configuration), "-h", f"{url} {tls_url}"],
        log=folder / "slapd.log",
    )
    directory = Directory(
        urls=(url,),
        name="Example directory",
        user_base=PEOPLE,
        group_base=GROUPS,
        bind_dn=READER,
        bind_password=READERS_PASSWORD,
    )
    try:
        wait_until(lambda: _answers(url, process))
        yield Slapd(directory, tls_url, folder / "authority.pem", process)
    finally:
        process.kill()


def _answers(url: str, process: Process) -> bool:
    if not process.running:
        raise RuntimeError(f"slapd did not start:\n{process.tail()}")
    command = ["ldapwhoami", "-x", "-H", url]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _person(name: str) -> str:
    filled = {"name": name, "people": PEOPLE, "password": PASSWORD}
    return _PERSON.format(**filled).lstrip()


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=_PROGRAMS)

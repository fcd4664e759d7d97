"""A PostgreSQL server of the tests' own, in a temporary folder, on a free port."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "s3cret word"  # noqa: S105 - of a server that lives for a test


@dataclass(frozen=True)
class Server:
    """Where the server is; its user is "ann", its database "shop"."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Its address, with the password."""
        return f"postgresql://ann:s3cret%20word@127.0.0.1:{self.port}/shop"


def program(name: str) -> str:
    """The path of one of PostgreSQL's programs: on the PATH, or where Debian keeps those of a version."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = shutil.which(name) or (str(kept[-1]) if kept else None)
    if found is None:
        raise FileNotFoundError(f"{name} is not found: install PostgreSQL, or leave these tests out (make test does).")
    return found


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """A running server; gone, with its folder, when the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="veilset-postgres-"))
    as_user = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        as_user = ["runuser", "-u", "postgres", "--"]
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)

    def run(*command: str) -> None:
        # Its output goes to a file: the server would hold a pipe open for as long as it runs.
        with (folder / "out.txt").open("ab") as out:
            done = subprocess.run([*as_user, *command], stdout=out, stderr=out, cwd=folder, check=False)
        assert done.returncode == 0, (folder / "out.txt").read_text()

    try:
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        data = str(folder / "data")
        run(
            *(program("initdb"), "-D", data, "--username=ann", "--pwfile", str(folder / "password"), "--no-sync"),
            *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"),
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off -p {port}"
        run(program("pg_ctl"), "-D", data, "-w", "-l", str(folder / "log.txt"), "-o", options, "start")
        try:
            place = f"host=127.0.0.1 port={port} user=ann dbname=postgres password='{PASSWORD}'"
            run(program("psql"), place, "-c", "CREATE DATABASE shop")
            yield Server(folder, port)
        finally:
            run(program("pg_ctl"), "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)

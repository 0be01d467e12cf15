"""Builds a release of the commit that is checked out, and publishes nothing:

    python3 internal/packaging/release.py dist                            # of all six systems
    python3 internal/packaging/release.py dist linux/amd64 darwin/arm64   # of these

Into dist/ go an archive for each system, a .deb, an .rpm and a container for each Linux, an apt
repository, a Homebrew formula, a Scoop manifest, lists of modules (SBOM) and SHA256SUMS. In each
are both programs: decoy, and decoy-spark, which it starts for tables in Spark. Archives of one
commit and one Go have the same bytes.

It needs Go, and Debian's packages apt-utils, buildah, gpg, gpg-agent and minisign. RELEASE_APT_KEY
names the key of gpg that signs the apt repository, RELEASE_MINISIGN_KEY the secret key of minisign
that signs SHA256SUMS; what has no key stays unsigned. build_wheels.py makes wheels of the same
programs.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOMEPAGE = "https://github.com/decoy-dp/decoy"
SUMMARY = "Synthetic tables under differential privacy, with an account of what they cost"
SYSTEMS = [f"{o}/{a}" for o in ("linux", "darwin", "windows") for a in ("amd64", "arm64")]
NFPM = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4"
MODULES = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0"


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Runs a command and returns what it prints."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, check=True,
                          stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def version() -> str:
    """The tag of the commit without its v, or a version before all tags."""
    tags = run("git", "tag", "--points-at", "HEAD", "--list", "v*").split()
    commit = run("git", "rev-parse", "--short=12", "HEAD")
    return tags[-1].removeprefix("v") if tags else f"0.0.0-dev.g{commit}"


def build(system: str, out: Path) -> list[Path]:
    """Builds both programs of a system, without cgo."""
    goos, goarch = system.split("/")
    suffix = ".exe" if goos == "windows" else ""
    programs = []
    for name, module in ("decoy", ROOT), ("decoy-spark", ROOT / "data" / "spark"):
        programs.append(out / f"{goos}_{goarch}" / (name + suffix))
        run("go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w", "-o", programs[-1],
            f"./cmd/{name}", cwd=module, CGO_ENABLED="0", GOOS=goos, GOARCH=goarch)
    return programs


def archive(name: str, files: dict[str, Path], out: Path, when: int) -> Path:
    """Packs files into a folder of an archive: .zip for Windows, .tar.gz for others."""
    if "windows" in name:
        path = out / f"{name}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
            for inside, file in sorted(files.items()):
                info = zipfile.ZipInfo(f"{name}/{inside}", time.gmtime(when)[:6])
                info.compress_type = zipfile.ZIP_DEFLATED
                pack.writestr(info, file.read_bytes())
        return path
    path = out / f"{name}.tar.gz"
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=when) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for inside, file in sorted(files.items()):
            entry = tarfile.TarInfo(f"{name}/{inside}")
            entry.size, entry.mtime = file.stat().st_size, when
            entry.mode = 0o755 if file.parent.parent.name == "bin" else 0o644
            with file.open("rb") as content:
                tar.addfile(entry, content)
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def apt(packages: dict[str, Path], out: Path, key: str | None) -> None:
    """Lays out an apt repository of one suite, "stable", and signs it."""
    pool, suite = out / "pool", out / "dists" / "stable"
    pool.mkdir(parents=True)
    for package in packages.values():
        shutil.copy(package, pool)
    for arch in packages:
        index = suite / "main" / f"binary-{arch}" / "Packages"
        index.parent.mkdir(parents=True)
        index.write_text(run("apt-ftparchive", "--arch", arch, "packages", "pool", cwd=out) + "\n")
        index.with_suffix(".gz").write_bytes(gzip.compress(index.read_bytes(), mtime=0))
    said = {"Origin": "decoy", "Label": "decoy", "Suite": "stable", "Codename": "stable",
            "Components": "main", "Architectures": " ".join(packages)}
    options = [o for k, v in said.items() for o in ("-o", f"APT::FTPArchive::Release::{k}={v}")]
    release = run("apt-ftparchive", *options, "release", suite)
    (suite / "Release").write_text(release + "\n")
    if key:
        sign = "gpg", "--batch", "--yes", "--local-user", key
        run(*sign, "--clearsign", "--output", suite / "InRelease", suite / "Release")
        run(*sign, "--armor", "--detach-sign", "--output", suite / "Release.gpg", suite / "Release")
        run("gpg", "--batch", "--yes", "--output", out / "decoy.gpg", "--export", key)


def formula(of: str, archives: dict[str, Path]) -> str:
    """The Homebrew formula of a version."""
    places = ""
    for goos, system in ("darwin", "on_macos"), ("linux", "on_linux"):
        inner = ""
        for goarch, processor in ("arm64", "on_arm"), ("amd64", "on_intel"):
            if path := archives.get(f"{goos}/{goarch}"):
                inner += (f"    {processor} do\n"
                          f'      url "{HOMEPAGE}/releases/download/v{of}/{path.name}"\n'
                          f'      sha256 "{sha256(path)}"\n    end\n')
        if inner:
            places += f"\n  {system} do\n{inner}  end\n"
    return f'''class Decoy < Formula
  desc "{SUMMARY}"
  homepage "{HOMEPAGE}"
  version "{of}"
  license "Apache-2.0"
{places}
  def install
    bin.install "decoy", "decoy-spark"
    bash_completion.install "completions/decoy.bash" => "decoy"
    zsh_completion.install "completions/decoy.zsh" => "_decoy"
    fish_completion.install "completions/decoy.fish"
  end

  test do
    system bin/"decoy", "generate", "--dataset", "icu-mortality", "--epsilon", "3",
           "--out", testpath/"synthetic.csv"
    assert_predicate testpath/"synthetic.csv", :exist?
  end
end
'''


def manifest(of: str, archives: dict[str, Path]) -> str:
    """The Scoop manifest of a version."""
    names = {"windows/amd64": "64bit", "windows/arm64": "arm64"}
    places, updates = {}, {}
    for system, name in names.items():
        if path := archives.get(system):
            places[name] = {"url": f"{HOMEPAGE}/releases/download/v{of}/{path.name}",
                            "hash": sha256(path), "extract_dir": path.stem}
            updates[name] = {k: v.replace(of, "$version") for k, v in places[name].items()
                             if k != "hash"}
    return json.dumps({
        "version": of, "description": SUMMARY + ".", "homepage": HOMEPAGE, "license": "Apache-2.0",
        "architecture": places, "bin": ["decoy.exe", "decoy-spark.exe"], "checkver": "github",
        "autoupdate": {"architecture": updates},
    }, indent=4) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="build a release")
    parser.add_argument("out", type=Path, help="folder of the release; what is in it goes")
    parser.add_argument("systems", nargs="*", metavar="OS/ARCH", help="default: all six")
    given = parser.parse_args()
    systems: list[str] = given.systems or SYSTEMS
    if unknown := set(systems) - set(SYSTEMS):
        parser.error(f"{', '.join(unknown)}: the systems are {', '.join(SYSTEMS)}")
    out: Path = given.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    completions = out / "completions"
    completions.mkdir(parents=True)
    of, when = version(), int(run("git", "log", "-1", "--format=%ct"))
    os.environ["SOURCE_DATE_EPOCH"] = str(when)
    (out / "VERSION").write_text(of + "\n")

    for shell in "bash", "zsh", "fish":
        text = run("go", "run", "-trimpath", "./cmd/decoy", "completion", shell, CGO_ENABLED="0")
        (completions / f"decoy.{shell}").write_text(text + "\n")
    shared = {"LICENSE": ROOT / "LICENSE", "README.md": ROOT / "README.md"}
    shared |= {f"docs/{p.name}": p for p in (ROOT / "docs").glob("*.md")}
    shared |= {f"completions/{p.name}": p for p in completions.iterdir()}

    archives, debs = {}, {}
    for system in systems:
        goos, goarch = system.split("/")
        name = f"decoy_{of}_{goos}_{goarch}"
        programs = build(system, out / "bin")
        archives[system] = archive(name, shared | {p.name: p for p in programs}, out, when)
        modules = run("go", "run", MODULES, "bin", "-json", "-noserial", "-std", programs[0])
        modules = "\n".join(l for l in modules.splitlines() if '"timestamp":' not in l) + "\n"
        (out / f"{name}.cdx.json").write_text(modules)
        if goos != "linux":
            continue
        for form in "deb", "rpm":
            run("go", "run", NFPM, "package", "-f", "internal/packaging/nfpm.yaml", "-p", form,
                "-t", out / f"{name}.{form}", ARCH=goarch, VERSION=of, HOMEPAGE=HOMEPAGE,
                BIN=str(programs[0].parent), COMPLETIONS=str(completions))
        debs[goarch] = out / f"{name}.deb"
        run("buildah", "--storage-driver", "vfs", "build", "--isolation", "chroot", "--timestamp",
            str(when), "--platform", system, "-f", "internal/packaging/Dockerfile",
            "-t", f"oci-archive:{out / name}.oci.tar:decoy", out / "bin")
    if debs:
        apt(debs, out / "apt", os.environ.get("RELEASE_APT_KEY"))
    (out / "decoy.rb").write_text(formula(of, archives))
    (out / "decoy.json").write_text(manifest(of, archives))

    files = sorted(p for p in out.iterdir() if p.is_file() and p.name != "VERSION")
    (out / "SHA256SUMS").write_text("".join(f"{sha256(p)}  {p.name}\n" for p in files))
    if key := os.environ.get("RELEASE_MINISIGN_KEY"):
        run("minisign", "-S", "-s", key, "-m", out / "SHA256SUMS")


if __name__ == "__main__":
    main()

# `just` lists what there is.
default:
    @just --list

# Everything CI checks, in the same order.
check:
    ./scripts/test

# Start the service with its defaults.
serve *ARGS:
    cargo run --release -- serve {{ARGS}}

# Licences, sources and forbidden crates.
deny:
    cargo deny check licenses bans sources

# Known vulnerabilities of the crates in Cargo.lock. Needs the network, for the database of advisories; run before a release.
advisories:
    cargo deny check advisories

# Compare the service with bare references, in interleaved rounds.
bench *ARGS:
    cargo run --release -p atelier-bench -- {{ARGS}}

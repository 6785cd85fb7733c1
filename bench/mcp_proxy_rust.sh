#!/bin/sh
# mcp_proxy_rust.sh PROGRAM PORT COMMAND ARGUMENT…: runs the crate mcp-proxy in front of one server.
# It takes its port and its servers from a file only.
program=$1 port=$2 command=$3
shift 3
config=$(mktemp)
arguments=$(printf '"%s", ' "$@")
cat > "$config" <<TOML
[proxy]
name = "bench"
[proxy.listen]
host = "127.0.0.1"
port = $port
[[backends]]
name = "s"
transport = "stdio"
command = "$command"
args = [$arguments]
TOML
# It logs every message otherwise.
export RUST_LOG=error
exec "$program" --config "$config"

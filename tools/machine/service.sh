# Sourced by the scripts that start a service for tests.

root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# These services refuse to run as root.
as_nobody() {
  if [ "$(id -u)" = 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi
}

# Whether something listens on a port.
answers() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)) && answers "$port"; do :; done
  echo "$port"
}

# Installs packages whose service must not be started by the package manager.
install_stopped() {
  local policy=/usr/sbin/policy-rc.d made=
  if command -v apt-get >/dev/null && [ ! -e $policy ]; then
    made=1
    printf '#!/bin/sh\nexit 101\n' | root tee $policy && root chmod +x $policy
  fi
  "$(dirname "${BASH_SOURCE[0]}")/install" "$@"
  if [ -n "$made" ]; then root rm -f $policy; fi
}

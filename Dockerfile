# All images of the project, each a target: docker build --target mkopo --tag mkopo .
# Nothing here depends on the processor: on an arm64 machine the same file makes arm64 images.
# Source files may be readable by their owner only; `chmod` and `--chmod` let the containers' users read what is copied.

# npm's packages, for whatever is built with webpack.
FROM node:20.20-bookworm-slim AS packages
WORKDIR /mkopo
COPY package.json package-lock.json ./
COPY contract/package.json contract/
COPY mfe-kit/package.json mfe-kit/
COPY mfe-shell/package.json mfe-shell/
COPY mfe-auth/package.json mfe-auth/
COPY mfe-loans/package.json mfe-loans/
COPY mfe-transactions/package.json mfe-transactions/
COPY e2e/package.json e2e/
COPY testkit/typescript/package.json testkit/typescript/
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM packages AS kit
COPY mfe-kit mfe-kit

# Each slice alone, so that a change of one builds nothing else.
FROM kit AS mfe-auth-build
WORKDIR /mkopo/mfe-auth
COPY mfe-auth .
RUN node ../mfe-kit/cli/mfe-kit.mjs build && chmod -R a+rX .

FROM kit AS mfe-loans-build
WORKDIR /mkopo/mfe-loans
COPY mfe-loans .
RUN node ../mfe-kit/cli/mfe-kit.mjs build && chmod -R a+rX .

FROM kit AS mfe-transactions-build
WORKDIR /mkopo/mfe-transactions
COPY mfe-transactions .
RUN node ../mfe-kit/cli/mfe-kit.mjs build && chmod -R a+rX .

# The package of the test kit for Python, which the shell serves with the other kits.
FROM debian:bookworm-slim AS wheel
WORKDIR /mkopo
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv
# The same sources make the same package: a version of the shell has one content.
ENV SOURCE_DATE_EPOCH=315532800
COPY contract/openapi.yaml contract/
COPY tools/machine tools/machine
COPY testkit/python testkit/python
RUN testkit/python/build

FROM kit AS mfe-shell-build
COPY contract contract
COPY mfe-shell mfe-shell
COPY tools/kits tools/kits
COPY tools/portal tools/portal
COPY docs/slices.md docs/
COPY testkit/typescript testkit/typescript
COPY --from=wheel /mkopo/testkit/python/dist testkit/python/dist
COPY tsconfig.json CHANGELOG.md LICENSE ./
RUN (cd mfe-shell && node ../mfe-kit/cli/mfe-kit.mjs build) \
 && npm run pack --workspace mfe-kit \
 && npm run gallery --workspace mfe-kit \
 && npm run pack --workspace mkopo-test \
 && node tools/kits/kit-folder.mjs mfe-shell/dist \
 && node tools/portal/describe-shell.mjs --kit \
 && chmod -R a+rX mfe-shell

# The program that publishes the build of a slice, or of the shell, to a server. It needs no packages.
FROM node:20.20-bookworm-slim AS publisher
LABEL org.opencontainers.image.licenses="MIT"
COPY --chmod=755 mfe-kit/cli /mfe-kit
# The token's volume belongs to the user who reads it, whichever container is created first.
RUN install -d -o 10001 -g 10001 -m 700 /deploy-token
WORKDIR /slice
USER 10001:10001
ENV MKOPO_DEPLOY_TOKEN_FILE=/deploy-token/token
# Until the first shell is there, slices wait.
HEALTHCHECK --interval=5s --timeout=3s --start-period=90s --start-interval=1s --retries=1 \
  CMD ["cat", "/tmp/mfe-kit-deployed"]
CMD ["node", "/mfe-kit/mfe-kit.mjs", "deploy"]

FROM publisher AS mfe-auth
LABEL org.opencontainers.image.title="Mkopo: mfe-auth" \
      org.opencontainers.image.description="Publishes sign-in, password reset and profile."
COPY --from=mfe-auth-build /mkopo/mfe-auth/package.json .
COPY --from=mfe-auth-build /mkopo/mfe-auth/dist dist

FROM publisher AS mfe-loans
LABEL org.opencontainers.image.title="Mkopo: mfe-loans" \
      org.opencontainers.image.description="Publishes dashboard, pending loans, loan details and payouts."
COPY --from=mfe-loans-build /mkopo/mfe-loans/package.json .
COPY --from=mfe-loans-build /mkopo/mfe-loans/dist dist

FROM publisher AS mfe-transactions
LABEL org.opencontainers.image.title="Mkopo: mfe-transactions" \
      org.opencontainers.image.description="Publishes transaction history and reports."
COPY --from=mfe-transactions-build /mkopo/mfe-transactions/package.json .
COPY --from=mfe-transactions-build /mkopo/mfe-transactions/dist dist

FROM publisher AS mfe-shell
LABEL org.opencontainers.image.title="Mkopo: mfe-shell" \
      org.opencontainers.image.description="Publishes the portal's page, and the kits for slices and tests."
COPY --from=mfe-shell-build /mkopo/mfe-shell/package.json .
COPY --from=mfe-shell-build /mkopo/mfe-shell/dist dist

FROM rust:1.95-bookworm AS server-build
WORKDIR /mkopo
# `release` answers a little faster, and takes some minutes longer to compile.
ARG PROFILE=demo
# Symbols are most of the program's size; panics name their line without them.
ENV CARGO_PROFILE_RELEASE_DEBUG=none CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_PROFILE_DEMO_STRIP=symbols
COPY .cargo .cargo
COPY contract contract
COPY server server
# What was compiled before is kept by the builder, for the next build.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/mkopo/server/target \
    cargo build --locked --profile "$PROFILE" --manifest-path server/Cargo.toml \
 && cp "server/target/$PROFILE/mkopo" /usr/local/bin/mkopo

FROM debian:bookworm-slim AS server
LABEL org.opencontainers.image.title="Mkopo: server" \
      org.opencontainers.image.description="Server of the portal: the API, simulated mobile money and the console." \
      org.opencontainers.image.licenses="MIT"
# The certificates are for mail servers with TLS. The first container that uses a volume gives it the owner that the
# folder has here: one volume for the data, and one for the deploy token of each slice that has a container.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 mkopo \
 && useradd --uid 10001 --gid mkopo --no-create-home --home-dir /data --shell /usr/sbin/nologin mkopo \
 && install -d -o mkopo -g mkopo -m 700 /data \
      /deploy-tokens/mfe-shell /deploy-tokens/mfe-auth /deploy-tokens/mfe-loans /deploy-tokens/mfe-transactions
COPY --from=server-build /usr/local/bin/mkopo /usr/local/bin/mkopo
ENV MKOPO_LISTEN=0.0.0.0:8080 MKOPO_CONSOLE_LISTEN=0.0.0.0:8081 MKOPO_DATA_DIR=/data
# Memory that is no longer used goes back to the system at once: after a publication, 33 MB instead of 130 MB are held.
ENV MIMALLOC_PURGE_DELAY=0
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s CMD ["mkopo", "ready"]
ENTRYPOINT ["mkopo"]
CMD ["serve"]

# The whole product: docker run --rm --publish 8080:8080 --publish 8081:8081 mkopo demo
FROM mfe-shell-build AS portal
COPY --from=mfe-auth-build /mkopo/mfe-auth mfe-auth
COPY --from=mfe-loans-build /mkopo/mfe-loans mfe-loans
COPY --from=mfe-transactions-build /mkopo/mfe-transactions mfe-transactions
RUN node tools/portal/assemble.mjs --out /portal \
 && node tools/kits/kit-folder.mjs /portal \
 && chmod -R a+rX /portal

FROM server AS mkopo
LABEL org.opencontainers.image.title="Mkopo" \
      org.opencontainers.image.description="The whole portal in one container: server, screens and kits."
COPY --from=portal /portal /portal
ENV MKOPO_PORTAL_DIR=/portal

# One address for two servers.
FROM debian:bookworm-slim AS balancer
LABEL org.opencontainers.image.title="Mkopo: balancer" \
      org.opencontainers.image.description="Forwards to the servers that are ready." \
      org.opencontainers.image.licenses="MIT"
RUN apt-get update \
 && apt-get install -y --no-install-recommends haproxy \
 && rm -rf /var/lib/apt/lists/*
COPY --chmod=644 balancer/haproxy.cfg /etc/haproxy/
USER haproxy
EXPOSE 8080
STOPSIGNAL SIGUSR1
# A server that is ready answers.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --start-interval=1s \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && grep --quiet ' 200 ' <&3"]
CMD ["haproxy", "-f", "/etc/haproxy/haproxy.cfg"]

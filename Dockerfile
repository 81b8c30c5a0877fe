# The sidecar as an image for amd64 and arm64. What is done is in image/build, which `make test-image` also runs without
# a container engine; it then reads below how to run the result.

# The version that the tests run on.
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY image image
COPY memsidecar memsidecar
# Where packages come from is the builder's matter: docker build --secret id=pip.conf,src=... names a mirror.
RUN --mount=type=cache,target=/root/.cache/pip --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    image/build runtime /opt/memsidecar

# Only the bill of materials: docker build --target sbom --output . .
FROM scratch AS sbom
COPY --from=build /opt/memsidecar/share/sbom.cdx.json /

FROM ${PYTHON} AS sidecar
# Python itself comes without compiled code, and with pip. A new volume becomes what /data is here: its owner's alone.
RUN --mount=type=bind,source=image,target=/source/image \
    /source/image/build base /usr/local && install -d -m 0700 -o 65532 -g 65532 /data
COPY --from=build /opt/memsidecar /opt/memsidecar

# Few, because the environment wins over a file of settings. The memory itself is served on loopback only, for the
# containers of one pod, until MEMSIDECAR_LISTEN says otherwise; health must be where the kubelet can ask.
ENV PATH=/opt/memsidecar/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    MEMSIDECAR_DATA_DIR=/data \
    MEMSIDECAR_HEALTH_LISTEN=0.0.0.0:7601 \
    MEMSIDECAR_LOG_FORMAT=json

# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
WORKDIR /data
# Whoever forgets to name a volume gets one without a name: what was acknowledged is then still there after the container
# is removed, and the root can be read-only.
VOLUME ["/data"]
EXPOSE 7600 7601
STOPSIGNAL SIGTERM
ENTRYPOINT ["memsidecar"]
CMD ["serve"]

# Last, because they change with every build.
ARG VERSION=unknown
ARG REVISION=unknown
ARG CREATED=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="memsidecar" \
      org.opencontainers.image.description="Memory for LLM agents, as a gRPC sidecar" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}"

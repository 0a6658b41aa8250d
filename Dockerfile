# The reporter as one process that runs as nobody, on a file system it cannot write to.
# amd64 and arm64: nothing here names an architecture, and every wheel of the lock exists for both.

# Any image of Debian with Python 3.11 or newer; the first one needs pip as well. Debian 13 by its digest, which
# Renovate renews with the security updates of Debian and Python.
ARG BASE=python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285
ARG BUILD_BASE=${BASE}

FROM ${BUILD_BASE} AS build
WORKDIR /source
COPY requirements.build.lock requirements.run.lock e2e/image/drop_unused.py ./
RUN python3 -m pip install --quiet --no-cache-dir --require-hashes --target /tools \
      --requirement requirements.build.lock \
 && python3 -m pip install --quiet --no-cache-dir --require-hashes --only-binary :all: --no-compile \
      --target /packages --requirement requirements.run.lock \
 && python3 drop_unused.py /packages
COPY pyproject.toml README.md LICENSE ./
COPY catalogue catalogue
COPY reporter reporter
RUN PYTHONPATH=/tools python3 -m hatchling build --target wheel --directory /wheel \
 && python3 -m pip install --quiet --no-cache-dir --no-deps --no-compile --target /packages /wheel/*.whl \
 && rm -rf /packages/bin

# Copy from the base what the last stage has: Python and what it loads, and no shell.
FROM ${BASE} AS system
COPY --from=build /packages /packages
COPY e2e/image/copy_system.py /
RUN PYTHONHASHSEED=0 python3 /copy_system.py --packages /packages --system /system --program /program

FROM scratch
ARG BASE
# Python before 3.13 has no mimalloc: pymalloc.
ARG ALLOCATOR=mimalloc
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="productionstack-status-reporter" \
      org.opencontainers.image.description="Reports as Kubernetes Events why a KAITO production stack does not serve." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="${BASE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Two layers: the first is the same for all versions on one base.
COPY --from=system /system /
COPY --from=system /program /
# mimalloc gives free pages of 64 KiB back to the system, pymalloc only free arenas of 1 MiB.
ENV PYTHONMALLOC=${ALLOCATOR} MIMALLOC_PURGE_DELAY=0
ENV PATH=/usr/local/bin:/usr/bin \
    PYTHONPATH=/packages PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONSAFEPATH=1
USER 65532:65532
WORKDIR /
EXPOSE 8080 8081
# Without arguments it is `run`, or `job-status` where JOB_NAME and POD_NAME are set.
ENTRYPOINT ["python3", "-m", "reporter.cli"]
CMD []

# The reporter as one process that runs as nobody, on a file system it cannot write to.
# amd64 and arm64: nothing here names an architecture, and every wheel of the lock exists for both.

# Any image with Python 3.11 or newer; the first one needs pip as well. Debian 13 by its digest, which
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

FROM ${BASE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="productionstack-status-reporter" \
      org.opencontainers.image.description="Reports as Kubernetes Events why a KAITO production stack does not serve." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /packages /packages
ENV PYTHONPATH=/packages PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONSAFEPATH=1
# Compiled here, as it must fit this Python; of the standard library too, which slim images ship
# without. Checked by nobody at start: the files cannot change. The installer has no work to do.
RUN python3 -m compileall -q -f -j 0 --invalidation-mode unchecked-hash /packages \
      "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
 && rm -rf /usr/local/bin/pip* /usr/bin/pip* /usr/local/lib/python3*/site-packages/pip* \
      /usr/local/lib/python3*/ensurepip /usr/lib/python3/dist-packages/pip* /root/.cache
USER 65532:65532
WORKDIR /
EXPOSE 8080 8081
# Without arguments it is `run`, or `job-status` where JOB_NAME and POD_NAME are set.
ENTRYPOINT ["python3", "-m", "reporter.cli"]
CMD []

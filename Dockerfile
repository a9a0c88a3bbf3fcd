# A worker: the program, the cases and the fixtures of one commit.
#
#   docker build -t assay .
#   docker run -e ASSAY_DB=postgres://... -e OPENROUTER_API_KEY assay work
#
# Agents that are to be audited are not in it: build your own image FROM this one
# and install them there.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN deploy/build.sh /out

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --create-home --uid 10001 assay
COPY --from=build /out /
USER 10001
WORKDIR /assay
ENTRYPOINT ["/usr/local/bin/assay"]
CMD ["work"]

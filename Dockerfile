# The program alone, for a user who is not root:
#
#   CGO_ENABLED=0 go build -trimpath -o decoy ./cmd/decoy
#   podman build -t decoy .
#   podman run --rm --network none --userns keep-id --user "$(id -u)" -v "$PWD:/data" decoy \
#     generate patients.csv --schema patients.yaml --epsilon 1 --out synthetic.csv
FROM scratch
COPY decoy /decoy
WORKDIR /data
USER 65532:65532
ENTRYPOINT ["/decoy"]

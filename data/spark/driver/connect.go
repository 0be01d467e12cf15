package driver

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/apache/spark-connect-go/v35/spark/client/channel"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"
)

// headers are sent with every call, over TLS only.
type headers map[string]string

// headersOf reads what the environment has: a bearer token, and NAME=VALUE,NAME=VALUE.
func headersOf(token, list string) (headers, error) {
	h := headers{}
	if token != "" {
		h["authorization"] = "Bearer " + token
	}
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !headerName.MatchString(name) || !ok {
			return nil, errors.New("spark: DECOY_SPARK_HEADERS is not NAME=VALUE,NAME=VALUE")
		}
		h[strings.ToLower(name)] = value
	}
	return h, nil
}

var headerName = regexp.MustCompile("^[A-Za-z0-9_.-]+$")

func (h headers) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return h, nil
}

func (headers) RequireTransportSecurity() bool { return true }

// connection is a channel to Spark Connect, which can do what the client does not: end a session.
type connection struct {
	*channel.BaseBuilder
	source  *Source
	headers headers
	conn    *grpc.ClientConn
}

func newConnection(s *Source) (*connection, error) {
	base, err := channel.NewBuilder("sc://" + s.Host)
	if err != nil {
		return nil, errAddress
	}
	h, err := headersOf(os.Getenv("DECOY_SPARK_TOKEN"), os.Getenv("DECOY_SPARK_HEADERS"))
	if err == nil && len(h) > 0 && !s.TLS {
		err = errors.New("spark: DECOY_SPARK_TOKEN and DECOY_SPARK_HEADERS are sent over TLS alone: " +
			"say ?tls=true, or unset them")
	}
	return &connection{BaseBuilder: base, source: s, headers: h}, err
}

// User is who Spark Connect takes us for.
func (c *connection) User() string {
	if c.source.User != "" {
		return c.source.User
	}
	return c.BaseBuilder.User()
}

// Build opens the channel.
func (c *connection) Build(context.Context) (*grpc.ClientConn, error) {
	secure := insecure.NewCredentials()
	options := []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(128 << 20))}
	if c.source.TLS {
		secure = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
		options = append(options, grpc.WithPerRPCCredentials(c.headers))
	}
	var err error
	c.conn, err = grpc.NewClient(c.source.Host, append(options,
		grpc.WithTransportCredentials(secure))...)
	return c.conn, err
}

// The numbers of fields in Spark's protocol, version 4, that the client does not know yet
// (spark/connect/base.proto).
const (
	requestSession = 1 // of ReleaseSessionRequest
	requestUser    = 2
	userName       = 1 // of UserContext
)

// release ends the session: the server stops all that it has begun, and begins nothing of it that
// comes late.
func (c *connection) release(session string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	user := protowire.AppendTag(nil, userName, protowire.BytesType)
	user = protowire.AppendString(user, c.User())
	b := protowire.AppendTag(nil, requestSession, protowire.BytesType)
	b = protowire.AppendString(b, session)
	b = protowire.AppendTag(b, requestUser, protowire.BytesType)
	b = protowire.AppendBytes(b, user)
	request := &emptypb.Empty{}
	request.ProtoReflect().SetUnknown(b)
	// an answer would change nothing
	const method = "/spark.connect.SparkConnectService/ReleaseSession"
	_ = c.conn.Invoke(ctx, method, request, &emptypb.Empty{})
}

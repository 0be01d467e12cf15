package driver

import (
	"context"
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/apache/spark-connect-go/v35/spark/client/channel"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"
)

// tokenVariable is the environment variable of a bearer token. It is sent over TLS only.
const tokenVariable = "DECOY_SPARK_TOKEN"

// connection is a channel to Spark Connect. It looks at the messages for what the client does not
// do: it can end the session.
type connection struct {
	*channel.BaseBuilder
	source *Source
	conn   *grpc.ClientConn

	mu      sync.Mutex
	session string
}

func newConnection(s *Source) (*connection, error) {
	base, err := channel.NewBuilder("sc://" + s.Host)
	if err != nil {
		return nil, errAddress
	}
	return &connection{BaseBuilder: base, source: s}, nil
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
	options := []grpc.DialOption{grpc.WithStreamInterceptor(c.stream),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(128 << 20))}
	if c.source.TLS {
		secure = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
		if token := os.Getenv(tokenVariable); token != "" {
			options = append(options, grpc.WithPerRPCCredentials(bearer(token)))
		}
	}
	var err error
	c.conn, err = grpc.NewClient(c.source.Host, append(options,
		grpc.WithTransportCredentials(secure))...)
	return c.conn, err
}

// bearer is a token.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return true }

// stream looks at the messages of a call.
func (c *connection) stream(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	streamer grpc.Streamer, o ...grpc.CallOption,
) (grpc.ClientStream, error) {
	s, err := streamer(ctx, desc, cc, method, o...)
	return &watched{s, c}, err
}

type watched struct {
	grpc.ClientStream
	c *connection
}

func (w *watched) SendMsg(m any) error {
	if r, ok := m.(interface{ GetSessionId() string }); ok {
		w.c.mu.Lock()
		w.c.session = r.GetSessionId()
		w.c.mu.Unlock()
	}
	return w.ClientStream.SendMsg(m)
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
func (c *connection) release() {
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	if session == "" {
		return
	}
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

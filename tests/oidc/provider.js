// A real OpenID Connect provider on loopback, for the tests of signing in.
//
// node provider.js REDIRECT_URI POST_LOGOUT_URI: prints its issuer on the first line. Whoever signs
// in as `olga-admins` gets the subject `olga` and the group `admins`.

import { createServer } from "node:http";
import Provider from "oidc-provider";

const [redirectUri, afterLogout] = process.argv.slice(2);
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "rocketscope",
      client_secret: "a secret of sixteen or more",
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [afterLogout],
    }],
    claims: {
      openid: ["sub"], profile: ["preferred_username"], groups: ["groups"],
    },
    cookies: { keys: ["for tests"] },
    features: { rpInitiatedLogout: { enabled: true } },
    pkce: { required: () => true },
    ttl: { Session: 3600, Grant: 3600, Interaction: 600, IdToken: 600, AccessToken: 600 },
    async findAccount(_context, id) {
      const [name, ...groups] = id.split("-");
      return {
        accountId: id,
        claims: async () => ({ sub: id, preferred_username: name, groups }),
      };
    },
  });
  provider.on("server_error", (_context, error) => console.error(error));
  server.on("request", provider.callback());
  console.log(issuer);
});

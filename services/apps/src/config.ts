import { EGRESS_VARIABLES } from '@backoffice/outbound/egress-variables.ts'
import { Duration, List, Switch } from '@backoffice/runtime/config.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { SigningKeys } from '@backoffice/secrets/signing-keys.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import { z } from 'zod'

/** The settings of apps. */
export const AppsConfig = serviceConfig('apps').extend({
  PLATFORM_ISSUER: z.string().min(1).describe('The `iss` of tokens for apps (OP-82).'),
  APP_SECRET_KEYS: SecretKeys.describe(
    'The keys that encrypt stored credentials of apps: `<key id>:<base64 of 32 bytes>`, comma-separated. The first encrypts, all decrypt.',
  ).meta({ secret: true }),
  APP_TOKEN_KEYS: SigningKeys.describe(
    'The private keys of tokens for apps: `<key id>:<base64 DER PKCS8, Ed25519>`, comma-separated. The first signs; the public halves of all are published (OP-82).',
  ).meta({ secret: true }),
  APP_RETRY_DELAYS: List.pipe(z.array(Duration).min(1))
    .prefault('1s,5s,30s,2m,10m,30m,1h')
    .describe(
      'The delay after each failed call to an app, as durations such as `250ms`, `20s`, `5m` or `6h`, comma-separated. The last holds for all that follow, for 24 hours (OP-81, OP-84).',
    ),
  APP_ANSWER_TIMEOUT: Duration.prefault('10s').describe(
    'The time for the whole answer of an app to a call or a checkout, as a duration such as `4s`; a checkout has 10 s at most (OP-85).',
  ),
  APPS_ALLOW_LOOPBACK: Switch.describe('Allows apps over http on loopback: for the local stack only (OP-81).'),
  ...EGRESS_VARIABLES,
})

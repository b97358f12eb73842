import { EGRESS_VARIABLES } from '@backoffice/outbound/egress-variables.ts'
import { Duration, List, Switch } from '@backoffice/runtime/config.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { variableOrFile } from '@backoffice/secrets/variable-or-file.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import { z } from 'zod'
import { TokenKeys } from './tokens/token-keys.ts'

const secretKeys = variableOrFile('APP_SECRET_KEYS', SecretKeys)
const tokenKeys = variableOrFile('APP_TOKEN_KEYS', TokenKeys)

/** The settings of apps. */
export const AppsConfig = serviceConfig('apps')
  .extend({
    /** The gateway's address inside the cluster: it mints and revokes the apps' keys. */
    GATEWAY_URL: z.url(),
    /** Signs the tokens of calls to the gateway and to webhook-delivery: base64 DER PKCS8. */
    INTERNAL_TOKEN_PRIVATE_KEY: z.base64(),
    /** The `iss` of tokens for apps (OP-82). */
    PLATFORM_ISSUER: z.string().min(1),
    /** Delay after each failed call to an app; the last holds for all that follow, for 24 hours (OP-81, OP-84). */
    APP_RETRY_DELAYS: z.string().default('1s,5s,30s,2m,10m,30m,1h').pipe(List).pipe(z.array(Duration).min(1)),
    /** The time for the whole answer of an app to a call or a checkout (OP-85). */
    APP_ANSWER_TIMEOUT: z.string().default('10s').pipe(Duration),
    /** Allows apps over http on loopback: for the local stack only (OP-81). */
    APPS_ALLOW_LOOPBACK: Switch,
    ...EGRESS_VARIABLES,
    ...secretKeys.variables,
    ...tokenKeys.variables,
  })
  .transform(secretKeys.read)
  .transform(tokenKeys.read)

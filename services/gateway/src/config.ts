import { List } from '@backoffice/runtime/config.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { variableOrFile } from '@backoffice/secrets/variable-or-file.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** An address, or addresses as `10.0.0.0/8`. */
const AddressBlock = z
  .string()
  .refine((text) => ipaddr.isValid(text) || ipaddr.isValidCIDR(text), 'is neither an IP address nor a CIDR block')

/**
 * The keys of the check at the end of API keys (OP-05): the first makes new checks, all of them verify. Without them new API keys end with
 * a CRC32, so that replicas of before this setting accept them.
 */
const checkKeys = variableOrFile('API_KEY_CHECK_KEYS', SecretKeys)

/** The settings of the gateway. */
export const GatewayConfig = serviceConfig('gateway')
  .extend({
    /** Signs the internal token: base64 DER PKCS8. */
    INTERNAL_TOKEN_PRIVATE_KEY: z.base64(),
    /** The token of the operator `bootstrap`, who makes the first others (OP-86). */
    ADMIN_TOKEN: z.string().min(16),
    /** The port of the admin API, which the public port then does not have (OP-86). */
    ADMIN_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
    /** The gateway's address as browsers see it: links to the pages of apps begin with it. */
    PUBLIC_URL: z.url({ protocol: /^https?$/ }).transform((text) => new URL(text)),
    /** The limit of workspaces without one of their own (OP-06). */
    RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(6000),
    RATE_LIMIT_BURST: z.coerce.number().int().min(1).default(200),
    /** Addresses and CIDR blocks of the proxies before the gateway: `X-Forwarded-For` of any other sender is ignored. */
    TRUSTED_PROXIES: z.string().default('').pipe(List).pipe(z.array(AddressBlock)),
    ...checkKeys.variables,
  })
  .refine(({ ADMIN_PORT, PORT, OPS_PORT = PORT + 1 }) => ADMIN_PORT !== PORT && ADMIN_PORT !== OPS_PORT, {
    path: ['ADMIN_PORT'],
    message: 'must differ from PORT and OPS_PORT (PORT + 1 unless set)',
  })
  .transform(checkKeys.readIfSet)
export type GatewayConfig = z.output<typeof GatewayConfig>

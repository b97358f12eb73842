import { AssetsUrl } from '@backoffice/runtime/asset-url.ts'
import { List, Port } from '@backoffice/runtime/config.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** An address, or addresses as `10.0.0.0/8`. */
const AddressBlock = z
  .string()
  .refine((text) => ipaddr.isValid(text) || ipaddr.isValidCIDR(text), 'is neither an IP address nor a CIDR block')

const Count = z.coerce.number().int().min(1)

export const GatewayConfig = serviceConfig('gateway')
  .extend({
    ADMIN_TOKEN: z
      .string()
      .min(16)
      .describe('The token of the operator `bootstrap`, who makes the first others: at least 16 characters (OP-86).')
      .meta({ secret: true }),
    ADMIN_PORT: Port.optional().describe(
      'The port of the admin API, which the public port then does not have. It differs from `PORT` and `OPS_PORT`. Unless set, the admin API is on the public port (OP-86).',
    ),
    PUBLIC_URL: z
      .url({ protocol: /^https?$/ })
      .transform((text) => new URL(text))
      .describe("The gateway's address as browsers see it: links to the pages of apps begin with it."),
    ASSETS_URL: AssetsUrl.optional().describe(
      'That of catalog, where it is a CDN: the console shows pictures from there. Unless set, from the gateway alone (OP-309).',
    ),
    API_KEY_CHECK_KEYS: SecretKeys.optional()
      .describe(
        'The keys of the check at the end of API keys: `<key id>:<base64 of 32 bytes>`, comma-separated. The first makes new checks, all verify. Unless set, new API keys end with a CRC32, so that replicas of before this setting accept them (OP-05).',
      )
      .meta({ secret: true }),
    RATE_LIMIT_PER_MINUTE: Count.default(6000).describe(
      'Requests a minute of an API key, in workspaces without a limit of their own (OP-06).',
    ),
    RATE_LIMIT_BURST: Count.default(200).describe(
      'Requests of an API key at once, in workspaces without a limit of their own (OP-06).',
    ),
    RATE_LIMIT_URL: z
      .url({ protocol: /^rediss?$/ })
      .optional()
      .describe(
        'The Valkey or Redis server through which all gateways share the limits: `redis://…` or `rediss://…`. Unless set, each gateway counts on its own (decision 029).',
      )
      .meta({ secret: true }),
    RATE_LIMIT_GATEWAYS: Count.default(1).describe(
      'How many gateways share the limits at least. One that starts while the server of `RATE_LIMIT_URL` is away counts its part of each limit by it (OP-172).',
    ),
    TRUSTED_PROXIES: z
      .string()
      .default('')
      .pipe(List)
      .pipe(z.array(AddressBlock))
      .describe(
        'Addresses and CIDR blocks of the proxies before the gateway, comma-separated: `X-Forwarded-For` of any other sender is ignored.',
      ),
  })
  .refine(({ ADMIN_PORT, PORT, OPS_PORT = PORT + 1 }) => ADMIN_PORT !== PORT && ADMIN_PORT !== OPS_PORT, {
    path: ['ADMIN_PORT'],
    message: 'must differ from PORT and OPS_PORT (PORT + 1 unless set)',
  })
export type GatewayConfig = z.output<typeof GatewayConfig>

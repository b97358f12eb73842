import { serviceConfig } from '@backoffice/service/service-config.ts'
import { z } from 'zod'

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
  })
  .refine(({ ADMIN_PORT, PORT, OPS_PORT = PORT + 1 }) => ADMIN_PORT !== PORT && ADMIN_PORT !== OPS_PORT, {
    path: ['ADMIN_PORT'],
    message: 'must differ from PORT and OPS_PORT (PORT + 1 unless set)',
  })
export type GatewayConfig = z.output<typeof GatewayConfig>

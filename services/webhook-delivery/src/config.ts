import { EGRESS_VARIABLES } from '@backoffice/outbound/egress-variables.ts'
import { Duration, List, Switch } from '@backoffice/runtime/config.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import { z } from 'zod'
import { secretKeys } from './secrets/secret-keys.ts'

/** The settings of webhook-delivery. */
export const WebhookDeliveryConfig = serviceConfig('webhook-delivery')
  .extend({
    /** Delay before each attempt (spec: Retries 2). */
    WEBHOOK_RETRY_DELAYS: z.string().default('0s,1m,5m,30m,2h,6h').pipe(List).pipe(z.array(Duration).min(1)),
    /** The most webhook endpoints of a workspace, those of apps included (OP-121). */
    WEBHOOK_ENDPOINTS_PER_WORKSPACE: z.coerce.number().int().min(1).default(500),
    /** Allows http and loopback targets: for the local stack only (OP-70). */
    WEBHOOK_ALLOW_LOOPBACK: Switch,
    ...EGRESS_VARIABLES,
    ...secretKeys.variables,
  })
  .transform(secretKeys.read)

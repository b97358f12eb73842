import { EGRESS_VARIABLES } from '@backoffice/outbound/egress-variables.ts'
import { Duration, List, Switch } from '@backoffice/runtime/config.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import { z } from 'zod'
import { SECRET_KEYS } from './secrets/secret-keys.ts'

export const WebhookDeliveryConfig = serviceConfig('webhook-delivery').extend({
  ...SECRET_KEYS,
  WEBHOOK_RETRY_DELAYS: List.pipe(z.array(Duration).min(1))
    .prefault('0s,1m,5m,30m,2h,6h')
    .describe(
      'The delay before each attempt, as durations such as `250ms`, `20s`, `5m` or `6h`, comma-separated; as many attempts are made (spec: Retries 2).',
    ),
  WEBHOOK_ENDPOINTS_PER_WORKSPACE: z.coerce
    .number()
    .int()
    .min(1)
    .default(500)
    .describe(
      'The most webhook endpoints of a workspace, those of apps aside; an app has at most a twenty-fifth of it (OP-231).',
    ),
  WEBHOOK_ALLOW_LOOPBACK: Switch.describe('Allows http and loopback targets: for the local stack only (OP-70).'),
  ...EGRESS_VARIABLES,
})

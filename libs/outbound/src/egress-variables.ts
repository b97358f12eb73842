import { z } from 'zod'

/** The variables of every process that sends to addresses that outsiders choose. */
export const EGRESS_VARIABLES = {
  EGRESS_PROXY_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => new URL(url))
    .optional()
    .describe(
      'An http or https proxy for all requests to addresses that outsiders choose, with its user and password; none unless set (OP-99).',
    )
    .meta({ secret: true }),
}

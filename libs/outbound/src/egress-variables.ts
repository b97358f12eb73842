import { z } from 'zod'

/** The variables of every process that sends to addresses that outsiders choose. */
export const EGRESS_VARIABLES = {
  /** An http or https proxy that all such requests go through; its user name and password are secret (OP-99). */
  EGRESS_PROXY_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => new URL(url))
    .optional(),
}

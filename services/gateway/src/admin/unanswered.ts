import { z } from 'zod'

/** The services whose answer is missing, with the reason. */
export const Unanswered = z.array(z.strictObject({ service: z.string(), reason: z.string() }))

import { z } from 'zod'

/** What the tests' consumers consume. */
export const Note = z.object({ name: z.string() })
export type Note = z.output<typeof Note>

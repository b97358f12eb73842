import { z } from 'zod'

/** Variables every process reads; services extend it with their own. */
export const ProcessConfig = z.object({
  HOST: z.string().default('0.0.0.0'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  OPS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
})

/** A switch written as `true` or `false`. */
export const Switch = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')

/** A comma-separated list. */
export const List = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** A duration such as `250ms`, `20s`, `5m` or `6h`, as milliseconds. */
export const Duration = z
  .string()
  .regex(/^\d+(ms|s|m|h)$/, 'is not a duration such as 250ms, 20s, 5m or 6h')
  .transform((value) => {
    const unit = value.replace(/^\d+/, '') as keyof typeof UNITS
    return Number.parseInt(value, 10) * UNITS[unit]
  })

/**
 * Reads a process's configuration from the environment. Throws one error that names every variable that is missing or
 * wrong; values are never part of the message, since some of them are secrets.
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: NodeJS.ProcessEnv = process.env,
): z.output<Schema> {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const result = schema.safeParse(present)
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`configuration: ${problems.join('; ')}`)
}

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ConfigurationError } from './configuration-error.ts'
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts'

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** A duration such as `250ms`, `20s`, `5m` or `6h`, as milliseconds. */
export const Duration = z
  .string()
  .regex(/^\d+(ms|s|m|h)$/, 'is not a duration such as 250ms, 20s, 5m or 6h')
  .transform((value) => {
    const unit = value.replace(/^\d+/, '') as keyof typeof UNITS
    return Number.parseInt(value, 10) * UNITS[unit]
  })
  .refine((milliseconds) => milliseconds < 2 ** 31, 'is longer than 24 days, which no timer waits')

/** A TCP port; 0 takes a free one. */
export const Port = z.coerce.number().int().min(0).max(65_535)

/** The settings of every process. The description of a setting is its documentation. */
export const ProcessConfig = z.object({
  HOST: z.string().default('0.0.0.0').describe('The address that all ports listen on.'),
  PORT: Port.default(8080).describe('The port of the HTTP API.'),
  OPS_PORT: Port.optional().describe(
    'The port of `/healthz`, `/readyz` and `/metrics`, which only the cluster may reach; `PORT` + 1 unless set.',
  ),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('The least severe log lines that are written: `debug`, `info`, `warn`, `error` or `silent`.'),
  STOP_DELAY: Duration.prefault('0s').describe(
    'How long a process that was asked to stop goes on working while it is not ready, so that load balancers stop using it first.',
  ),
  ...TELEMETRY_SETTINGS,
})

/** A switch written as `true` or `false`. */
export const Switch = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')

export const List = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

/** An address such as `http://catalog:8080`. Without the scheme, `catalog:8080` is a URL as well. */
export const HttpUrl = z.url({ protocol: /^https?$/, error: 'is no URL that begins with http:// or https://' })

export type SettingsShape = Readonly<Record<string, z.core.$ZodType>>
export type Settings<Output = unknown> = z.ZodType<Output> & { readonly shape: SettingsShape }

/**
 * Reads settings from the environment; an empty variable is not set. A secret `X` may come from the file that `X_FILE`
 * names. Throws one error for all that is missing or wrong, without values: some are secrets.
 */
export function readConfig<Schema extends Settings>(
  schema: Schema,
  environment: NodeJS.ProcessEnv = process.env,
): z.output<Schema> {
  const { shape } = schema
  const variables = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const { values, refusals, fromFiles } = withFiles(shape, variables)
  const result = schema.safeParse(values)
  if (result.success && refusals.size === 0) return result.data

  const problems = [...refusals].map(([name, refusal]) => `${fileVariable(name)}: ${refusal}`)
  for (const { code, path, message } of result.error?.issues ?? []) {
    const name = String(path[0])
    if (refusals.has(name)) continue
    if (code === 'invalid_type' && values[name] === undefined) problems.push(missing(name, shape))
    else if (fromFiles.has(name)) problems.push(`${fileVariable(name)}: the file ${message}`)
    else problems.push(`${path.join('.')}: ${message}`)
  }
  throw new ConfigurationError(problems.join('; '))
}

function missing(name: string, shape: SettingsShape): string {
  const setting = shape[name]
  const instead = setting !== undefined && mayBeFile(setting) ? `; ${fileVariable(name)} may name a file instead` : ''
  return `${name}: is missing${instead}`
}

/** The variable with the name of the file that has a setting's value. */
const fileVariable = (name: string) => `${name}_FILE`

/** Whether a setting may come from a file: a secret (`secret: true`), or what is a file by nature (`file: true`). */
export function mayBeFile(setting: z.core.$ZodType): boolean {
  const { secret = false, file = false } = z.globalRegistry.get(setting) ?? {}
  return secret === true || file === true
}

/**
 * The variables, with the text of each file that a `<NAME>_FILE` names as `<NAME>`; a line end at its end is no part of
 * it. `refusals` say by the setting's name why a file was not read.
 */
function withFiles(shape: SettingsShape, variables: NodeJS.ProcessEnv) {
  const values = { ...variables }
  const refusals = new Map<string, string>()
  const fromFiles = new Set<string>()
  for (const name of Object.keys(shape)) {
    const file = variables[fileVariable(name)]
    if (file === undefined || !mayBeFile(shape[name] as z.ZodType)) continue
    const text = textOf(file)
    if (variables[name] !== undefined) refusals.set(name, `must not be set beside ${name}`)
    else if (text === undefined) refusals.set(name, 'names a file that cannot be read')
    else if (text === '') refusals.set(name, 'names an empty file')
    else values[name] = text
    fromFiles.add(name)
  }
  return { values, refusals, fromFiles }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return undefined
  }
}

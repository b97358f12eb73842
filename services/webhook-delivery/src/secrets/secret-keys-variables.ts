import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { SecretKeys } from './secret-box.ts'

/** The variables with the keys that seal secrets; exactly one of the two is set. */
export const SECRET_KEYS_VARIABLES = {
  WEBHOOK_SECRET_KEYS: SecretKeys.optional(),
  /** A file with the same text, for secrets that an orchestrator mounts. */
  WEBHOOK_SECRET_KEYS_FILE: z.string().optional(),
}

type Variables = z.output<z.ZodObject<typeof SECRET_KEYS_VARIABLES>>

/** Adds the keys to a configuration, from the variable or the file. A refusal never repeats their text. */
export function readSecretKeys<Config extends Variables>(config: Config, context: z.RefinementCtx) {
  const { WEBHOOK_SECRET_KEYS: given, WEBHOOK_SECRET_KEYS_FILE: file } = config
  const refuse = (message: string, path = 'WEBHOOK_SECRET_KEYS_FILE') => {
    context.addIssue({ code: 'custom', path: [path], message })
    return z.NEVER
  }
  if (given && file) return refuse('must not be set beside WEBHOOK_SECRET_KEYS')
  if (given) return { ...config, WEBHOOK_SECRET_KEYS: given }
  if (!file) return refuse('is missing; WEBHOOK_SECRET_KEYS_FILE may name a file instead', 'WEBHOOK_SECRET_KEYS')
  const text = textOf(file)
  if (text === undefined) return refuse('names a file that cannot be read')
  const read = SecretKeys.safeParse(text)
  if (!read.success) return refuse(`the file ${read.error.issues[0]?.message}`)
  return { ...config, WEBHOOK_SECRET_KEYS: read.data }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

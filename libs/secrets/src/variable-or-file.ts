import { readFileSync } from 'node:fs'
import { z } from 'zod'

type Variables<Name extends string, Schema extends z.ZodType> = Record<Name, z.ZodOptional<Schema>> &
  Record<`${Name}_FILE`, z.ZodOptional<z.ZodString>>
type Given<Name extends string, Value> = { readonly [name in Name]?: Value | undefined } & {
  readonly [name in `${Name}_FILE`]?: string | undefined
}

/**
 * A secret variable that may come from a file instead, for secrets that an orchestrator mounts: exactly one of `name` and
 * `<name>_FILE` is set. Add `variables` to a configuration's object schema, and `read` as a transform after it: it sets
 * `name` to the value from either place. `readIfSet` does so where both may be missing. A refusal never repeats the text, as long as
 * the schema's own refusals do not.
 */
export function variableOrFile<Name extends string, Schema extends z.ZodType>(name: Name, schema: Schema) {
  const fileName = `${name}_FILE` as const
  function read<Config extends Given<Name, z.output<Schema>>>(config: Config, context: z.RefinementCtx) {
    const withValue = (value: z.output<Schema>) => ({ ...config, [name]: value }) as Config & Record<Name, typeof value>
    const refuse = (message: string, path: string = fileName) => {
      context.addIssue({ code: 'custom', path: [path], message })
      return z.NEVER
    }
    const given = config[name]
    const file = config[fileName] as string | undefined
    if (given && file) return refuse(`must not be set beside ${name}`)
    if (given) return withValue(given as z.output<Schema>)
    if (!file) return refuse(`is missing; ${fileName} may name a file instead`, name)
    const text = textOf(file)
    if (text === undefined) return refuse('names a file that cannot be read')
    const read = schema.safeParse(text)
    return read.success ? withValue(read.data) : refuse(`the file ${read.error.issues[0]?.message}`)
  }

  return {
    variables: { [name]: schema.optional(), [fileName]: z.string().optional() } as Variables<Name, Schema>,
    read,
    readIfSet: <Config extends Given<Name, z.output<Schema>>>(config: Config, context: z.RefinementCtx): Config =>
      config[name] || config[fileName] ? read(config, context) : config,
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

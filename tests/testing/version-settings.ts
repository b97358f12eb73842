import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { type StackEnvironment, settingsOf } from '@backoffice/local/service-settings.ts'
import type { VersionSettings } from './deployment.ts'
import type { PreviousVersion } from './previous-version.ts'

/** Both are run in the folder of that version, with its code. */
const PRINT_SETTINGS = `
  import { SERVICE_NAMES } from './libs/contracts/src/services.ts'
  import { stackSecrets } from './infra/local/secrets.ts'
  import { settingsOf } from './infra/local/service-settings.ts'
  const stack = JSON.parse(process.env.STACK)
  const secrets = stackSecrets(stack.directory)
  console.log(JSON.stringify(Object.fromEntries(SERVICE_NAMES.map((name) => [name, settingsOf(name, { ...stack, secrets })]))))
`
const REGISTER_SCHEMAS = `
  import { globSync } from 'node:fs'
  const [schemas] = globSync('./libs/messaging/src/**/register-schemas.ts')
  const { registerSchemas } = await import('./' + schemas)
  await registerSchemas(process.env.REGISTRY)
`

async function run({ directory }: PreviousVersion, script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: directory,
    env: { ...process.env, ...env },
  })
  return stdout
}

/** Registers the schemas of the version before, which a registry has before those of this version. */
export async function registerFormerSchemas(previous: PreviousVersion, registry: string): Promise<void> {
  await run(previous, REGISTER_SCHEMAS, { REGISTRY: registry })
}

/**
 * The settings of both versions by service. While both run, every process has the settings of both: a new name is added
 * beside the old one, which is removed later.
 */
export async function settingsOfBoth(previous: PreviousVersion, stack: StackEnvironment): Promise<VersionSettings> {
  const { secrets: _, ...known } = stack
  const settings = await run(previous, PRINT_SETTINGS, { STACK: JSON.stringify(known) })
  const former: Record<string, NodeJS.ProcessEnv> = JSON.parse(settings)
  return Object.fromEntries(SERVICE_NAMES.map((name) => [name, { ...former[name], ...settingsOf(name, stack) }]))
}

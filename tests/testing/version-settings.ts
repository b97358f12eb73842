import { execFileSync } from 'node:child_process'
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

const run = ({ directory }: PreviousVersion, script: string, env: NodeJS.ProcessEnv) =>
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: directory,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })

/** Registers the schemas of the version before, which a registry has before those of this version. */
export function registerFormerSchemas(previous: PreviousVersion, registry: string): void {
  run(previous, REGISTER_SCHEMAS, { REGISTRY: registry })
}

/**
 * The settings of both versions by service. While both run, every process has the settings of both: a new name is added
 * beside the old one, which is removed later.
 */
export function settingsOfBoth(previous: PreviousVersion, stack: StackEnvironment): VersionSettings {
  const { secrets: _, ...known } = stack
  const settings = run(previous, PRINT_SETTINGS, { STACK: JSON.stringify(known) })
  const former: Record<string, NodeJS.ProcessEnv> = JSON.parse(settings)
  return Object.fromEntries(SERVICE_NAMES.map((name) => [name, { ...former[name], ...settingsOf(name, stack) }]))
}

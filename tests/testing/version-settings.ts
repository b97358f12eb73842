import { execFileSync } from 'node:child_process'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { type StackEnvironment, settingsOf } from '@backoffice/local/service-settings.ts'
import type { VersionSettings } from './deployment.ts'
import type { PreviousVersion } from './previous-version.ts'

/** Run in the folder of that version, with its code: registers its schemas and prints the settings of its services. */
const SCRIPT = `
  import { SERVICE_NAMES } from './libs/contracts/src/services.ts'
  import { stackSecrets } from './infra/local/secrets.ts'
  import { settingsOf } from './infra/local/service-settings.ts'
  import { globSync } from 'node:fs'
  const [schemas] = globSync('./libs/messaging/src/**/register-schemas.ts')
  const { registerSchemas } = await import('./' + schemas)
  const stack = JSON.parse(process.env.STACK)
  await registerSchemas(stack.registry)
  const secrets = stackSecrets(stack.directory)
  console.log(JSON.stringify(Object.fromEntries(SERVICE_NAMES.map((name) => [name, settingsOf(name, { ...stack, secrets })]))))
`

/**
 * Registers the schemas of the version before, and returns the settings of both versions by service. While both run,
 * every process has the settings of both: a new name is added beside the old one, which is removed later.
 */
export function settingsOfBoth({ directory }: PreviousVersion, stack: StackEnvironment): VersionSettings {
  const { secrets: _, ...known } = stack
  const settings = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: directory,
    env: { ...process.env, STACK: JSON.stringify(known) },
    encoding: 'utf8',
  })
  const former: Record<string, NodeJS.ProcessEnv> = JSON.parse(settings)
  return Object.fromEntries(SERVICE_NAMES.map((name) => [name, { ...former[name], ...settingsOf(name, stack) }]))
}

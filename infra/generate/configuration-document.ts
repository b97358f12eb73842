import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { DatabasesConfig, SchemasConfig, TopicsConfig } from '@backoffice/jobs/config.ts'
import { mayBeFile, type SettingsShape } from '@backoffice/runtime/config.ts'
import { connectionsOf } from '@backoffice/service/service-pools.ts'
import { z } from 'zod'
import { table } from './markdown-table.ts'
import { CONFIGS, POOLS } from './service-configs.ts'

/** The settings of every service. */
export const SETTINGS = Object.fromEntries(
  SERVICE_NAMES.map((name): [ServiceName, SettingsShape] => [name, CONFIGS[name].shape]),
) as Readonly<Record<ServiceName, SettingsShape>>

/** The settings of the one-shot jobs of `infra/jobs`. */
export const JOB_SETTINGS: Readonly<Record<string, SettingsShape>> = {
  provision: DatabasesConfig.shape,
  migrate: DatabasesConfig.shape,
  topics: TopicsConfig.shape,
  schemas: SchemasConfig.shape,
}

/** What the schema of a setting says about it. */
type DescribedSetting = ReturnType<typeof describedSettings>[number]

/** Describes the settings of a service or a job. */
export const describedSettings = (shape: SettingsShape) =>
  Object.entries(shape).map(([name, schema]) => {
    const { description = '', secret } = z.globalRegistry.get(schema) ?? {}
    const { default: standard } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
    return {
      name,
      isRequired: !z.safeParse(schema, undefined).success,
      /** As the variable has it. */
      standard: standard === undefined ? undefined : String(standard),
      isSecret: secret === true,
      /** Whether `<NAME>_FILE` may name a file instead. */
      mayBeFile: mayBeFile(schema),
      meaning: description,
    }
  })

const INTRODUCTION = `# Configuration

\`npm run generate:configuration\` writes this page.

Settings are environment variables. An empty one counts as not set. A process reads them once, at its start, and ends with one line that names every
setting that is missing or wrong. A setting marked "file" may also come from a file: \`X_FILE\` names the file that has the value of \`X\`. Both at once
are refused. A line end at the end of the file is no part of the value. OP-… are decisions in [open points](open-points.md).`

/** The text of docs/configuration.md. */
export function configurationDocument(): string {
  const used = usedSettings(SETTINGS)
  const readBy = (isMeant: (readers: readonly string[]) => boolean) => used.filter(({ readers }) => isMeant(readers))
  const ofSome = readBy(({ length }) => length > 1 && length < SERVICE_NAMES.length)
  const sections = [
    INTRODUCTION,
    section('Every service', settings(readBy(({ length }) => length === SERVICE_NAMES.length))),
    section('Several services', settings(ofSome, 'services')),
    ...SERVICE_NAMES.map((service) => section(service, settings(readBy((readers) => readers.join() === service)))),
    section('Jobs', jobs()),
    section('Connections to PostgreSQL', connections()),
  ]
  return `${sections.join('\n\n')}\n`
}

/** Each setting once, with the services or jobs that read it. */
function usedSettings(shapes: Readonly<Record<string, SettingsShape>>) {
  const used = new Map<string, { setting: DescribedSetting; readers: string[] }>()
  for (const [reader, shape] of Object.entries(shapes)) {
    for (const setting of describedSettings(shape)) {
      const { readers } = used.get(keyOf(setting)) ?? { readers: [] }
      used.set(keyOf(setting), { setting, readers: [...readers, reader] })
    }
  }
  return [...used.values()]
}

/** Settings of one name may mean different things in two services. */
const keyOf = ({ name, meaning }: DescribedSetting) => `${name} ${meaning}`

const SETTING = ['setting', 'value unless set', 'kind', 'meaning']

function rowOf({ name, isRequired, standard, isSecret, mayBeFile, meaning }: DescribedSetting): string[] {
  const value = standard === '' ? 'empty' : standard === undefined ? '–' : `\`${standard}\``
  const kind = isSecret ? 'secret, file' : mayBeFile ? 'file' : ''
  return [`\`${name}\``, isRequired ? '**required**' : value, kind, meaning]
}

/** A table of settings, with a column of that name for their readers. Settings whose names alone differ share a row. */
function settings(used: ReturnType<typeof usedSettings>, readersName?: string): string {
  if (used.length === 0) return 'None of its own.'
  const rows = new Map<string, string[]>()
  for (const { setting, readers } of used) {
    const [name = '', ...others] = [...rowOf(setting), ...(readersName ? [readers.join(', ')] : [])]
    const [names] = rows.get(others.join()) ?? []
    rows.set(others.join(), [names === undefined ? name : `${names}, ${name}`, ...others])
  }
  return table([...SETTING, ...(readersName ? [readersName] : [])], [...rows.values()])
}

function jobs(): string {
  const above = new Set(usedSettings(SETTINGS).map(({ setting }) => keyOf(setting)))
  const used = usedSettings(JOB_SETTINGS)
  const shared = Object.keys(JOB_SETTINGS).map((job) => {
    const names = used.filter(({ setting, readers }) => readers.includes(job) && above.has(keyOf(setting)))
    return `- \`${job}\`: ${names.map(({ setting }) => `\`${setting.name}\``).join(', ')}`
  })
  return `The settings of the [one-shot commands](operations.md#deploy) \`node infra/jobs/src/<job>.ts\`. Some settings of services hold for jobs too:

${shared.join('\n')}

${settings(
  used.filter(({ setting }) => !above.has(keyOf(setting))),
  'jobs',
)}`
}

function connections(): string {
  const requests = Number(
    describedSettings(SETTINGS.gateway).find(({ name }) => name === 'DATABASE_POOL_SIZE')?.standard,
  )
  const rows = SERVICE_NAMES.map((service) => {
    const { app, worker } = connectionsOf(service, POOLS[service], requests)
    return [service, app, worker, app + worker].map(String)
  })
  const heads = ['service', '`DATABASE_URL`', '`WORKER_DATABASE_URL`', 'both']
  return `The most connections of one replica with \`DATABASE_POOL_SIZE=${requests}\`; each more there is one more of \`DATABASE_URL\`.
[Operations](operations.md#connections) has what \`max_connections\` of a server has to be.

${table(heads, rows)}`
}

const section = (title: string, text: string) => `## ${title}\n\n${text}`

import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { newSecrets } from '@backoffice/local/secrets.ts'
import { settingsOf } from '@backoffice/local/service-settings.ts'

/** The settings of docker-compose.yml: `.env.example` with a new value for each secret that is empty there. */
export function composeEnvironment(example: string): string {
  const stack = {
    directory: '',
    postgres: 'postgres://postgres',
    kafka: [],
    registry: '',
    secrets: newSecrets(),
    urls: {},
  }
  const values: NodeJS.ProcessEnv = Object.assign({}, ...SERVICE_NAMES.map((name) => settingsOf(name, stack)))
  return example.replaceAll(/^(\w+)=$/gm, (line, name: string) => {
    const isPassword = name.endsWith('_PASSWORD')
    return `${line}${values[name] ?? (isPassword ? randomBytes(24).toString('base64url') : '')}`
  })
}

/** `npm run compose:environment`: writes .env, which only its owner can read. */
function main(): void {
  const root = join(import.meta.dirname, '../..')
  const example = readFileSync(join(root, '.env.example'), 'utf8')
  try {
    writeFileSync(join(root, '.env'), composeEnvironment(example), { mode: 0o600, flag: 'wx' })
    console.log('.env written')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    console.log('.env is there already: it stays as it is')
  }
}

if (import.meta.main) main()

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/* `npm run local -w examples/app`: starts the app; its encryption key is in the stack's folder. */

const stack = join(process.env.STACK_DIR ?? join(import.meta.dirname, '../../../.local'))
if (!existsSync(join(stack, 'stack.json'))) throw new Error('start the local stack first: npm start')
const folder = join(stack, 'example-app')
const keyFile = join(folder, 'encryption-key')
mkdirSync(folder, { recursive: true, mode: 0o700 })
if (!existsSync(keyFile)) writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })

process.env.PLATFORM_URL ??= JSON.parse(readFileSync(join(stack, 'stack.json'), 'utf8')).gateway
process.env.APP_ENCRYPTION_KEY ??= readFileSync(keyFile, 'utf8')
process.env.DATABASE ??= join(folder, 'payments.db')
await import('./main.ts')

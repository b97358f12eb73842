import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeDocument } from '@backoffice/generate/openapi-document.ts'
import { finished } from '@backoffice/testing/processes/foreground.ts'

/* `npm run check:api`: lints the OpenAPI document by the rules of redocly.yaml, of which each is an error. Needs no running stack. */

const folder = mkdtempSync(join(tmpdir(), 'backoffice-openapi-'))
const file = join(folder, 'openapi.json')
writeFileSync(file, JSON.stringify(wholeDocument(), null, 2))
// The linter would ask its maker's server for a newer version, and send statistics there.
const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
const config = join(import.meta.dirname, 'redocly.yaml')
process.exitCode = await finished(spawn('redocly', ['lint', '--config', config, file], { stdio: 'inherit', env }))
rmSync(folder, { recursive: true })

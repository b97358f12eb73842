import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundle } from './bundle.ts'
import { programFile } from './start-script.ts'
import { ROOT } from './workspaces.ts'

const folder = mkdtempSync(join(tmpdir(), 'programs-'))
beforeAll(() => bundle(ROOT, SERVICE_NAMES, folder))
afterAll(() => rmSync(folder, { recursive: true }))

it.each(SERVICE_NAMES)(
  '%s loads all that it has, and nothing that is started as a command, and asks for settings',
  (name) => {
    const { PATH } = process.env
    const { status, stdout } = spawnSync('node', [join(folder, programFile(name))], { env: { PATH }, encoding: 'utf8' })
    expect(stdout.trim().split('\n')).toHaveLength(1)
    expect(JSON.parse(stdout)).toMatchObject({ service: name, msg: expect.stringMatching(/^configuration: /) })
    expect(status).toBe(1)
  },
)

it('classes of the same name keep it, since errors are told by it', () => {
  const text = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n')
  const renamed = [...text.matchAll(/\bclass (\w+)\$\d+ [^{]*\{\s*(?:static \{\s*__name\(this, "(\w+)"\))?/g)]
  expect(renamed.map(([, name]) => name)).toContain('CsvError')
  for (const [, name, kept] of renamed) expect(kept).toBe(name)
})

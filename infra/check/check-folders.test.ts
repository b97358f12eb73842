import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

/** Runs the check over files with these contents. */
function check(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'check-folders-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), content)
  }
  const script = fileURLToPath(new URL('check-folders.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: 'utf8' })
  return { status, stderr }
}

const SRC = 'services/shop/src'

test('folders that import each other in a circle are refused, and the circle is named with its imports', () => {
  const { status, stderr } = check({
    [`${SRC}/a/one.ts`]: "import {\n  type Two,\n} from '../b/two.ts'\n",
    [`${SRC}/b/two.ts`]: "export { three } from '../c/three.ts'\n",
    [`${SRC}/c/three.ts`]: "const one = () => import('../a/one.ts')\n",
  })
  expect(status).toBe(1)
  expect(stderr).toBe(
    `folders import each other: ${SRC}/a → ${SRC}/b → ${SRC}/c → ${SRC}/a
  ${SRC}/a/one.ts imports ${SRC}/b/two.ts
  ${SRC}/b/two.ts imports ${SRC}/c/three.ts
  ${SRC}/c/three.ts imports ${SRC}/a/one.ts\n`,
  )
})

test('imports in one direction, of packages, of tests and of what only tests use are no circle', () => {
  const checked = check({
    [`${SRC}/a/one.ts`]: "import { z } from 'zod'\nimport { two } from '../b/two.ts'\nimport { own } from './own.ts'\n",
    [`${SRC}/b/two.test.ts`]: "import { one } from '../a/one.ts'\n",
    [`${SRC}/b/testing/two.ts`]: "import { one } from '../../a/one.ts'\n",
  })
  expect(checked).toEqual({ status: 0, stderr: '' })
})

const PACKAGE = { name: '@backoffice/keys', exports: { './*': './src/*' } }

test('circles are found through packages and in infra, and in the lib that is for tests', () => {
  const { status, stderr } = check({
    'libs/testing/src/one.ts': "import { two } from '@backoffice/keys/deep/two.ts'\n",
    'libs/keys/package.json': JSON.stringify(PACKAGE),
    'libs/keys/src/deep/two.ts': "import { one } from '../../../testing/src/one.ts'\n",
    'infra/shop/main.ts': "import { run } from './commands/run.ts'\n",
    'infra/shop/commands/run.ts': "import { main } from '../main.ts'\n",
  })
  expect(status).toBe(1)
  expect(stderr).toContain('infra/shop → infra/shop/commands → infra/shop')
  expect(stderr).toContain('libs/keys/src/deep → libs/testing/src → libs/keys/src/deep')
})

test('a lib imports no service and no infra, and a service no infra, not even in tests', () => {
  const { status, stderr } = check({
    'infra/keys/package.json': JSON.stringify(PACKAGE),
    'infra/keys/src/new.ts': "import { one } from '../../../services/shop/src/one.ts'\n",
    'libs/http/src/one.test.ts': "import { key } from '@backoffice/keys/new.ts'\n",
    'libs/http/src/two.ts': "import { one } from '../../../services/shop/src/one.ts'\n",
    'services/shop/src/one.ts': "import { key } from '@backoffice/keys/new.ts'\n",
  })
  expect(status).toBe(1)
  expect(stderr.match(/^.* imports (?=.*above it)/gm)).toEqual([
    'libs/http/src/one.test.ts imports ',
    'libs/http/src/two.ts imports ',
    'services/shop/src/one.ts imports ',
  ])
})

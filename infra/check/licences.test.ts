import { expect, test } from 'vitest'
import { dependenciesOf, refusedLicences } from './licences.ts'

test('licences of packages that production installs are read from the lock file', () => {
  const packages = {
    '': { version: '1.0.0' },
    'libs/http': { version: '0.0.0' },
    'node_modules/@backoffice/http': { link: true },
    'node_modules/vitest': { version: '5.1.1', license: 'MIT', dev: true },
    'node_modules/a/node_modules/@b/c': { version: '2.0.0', license: 'ISC' },
    'node_modules/d': { version: '3.0.0', license: [{ type: 'Public Domain' }, { type: 'MIT' }] },
    'node_modules/e': { version: '4.0.0' },
  }
  expect(dependenciesOf({ packages })).toEqual([
    { name: '@b/c', version: '2.0.0', licence: 'ISC' },
    { name: 'd', version: '3.0.0', licence: 'Public Domain OR MIT' },
    { name: 'e', version: '4.0.0', licence: 'none' },
  ])
})

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['(Apache-2.0 AND BSD-3-Clause)', true],
  ['MIT AND GPL-3.0-only', false],
  ['AGPL-3.0-only', false],
  ['none', false],
])('the licence %s', (licence, isAllowed) => {
  expect(refusedLicences([{ name: 'a', version: '1.0.0', licence }])).toHaveLength(isAllowed ? 0 : 1)
})

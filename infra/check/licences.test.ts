import { expect, test } from 'vitest'
import { dependenciesOf, refusedLicences } from './licences.ts'

test('licences of packages that production installs are read from the lock file', () => {
  const packages = {
    '': {},
    'libs/http': {},
    'node_modules/@backoffice/http': { link: true },
    'node_modules/vitest': { license: 'MIT', dev: true },
    'node_modules/a/node_modules/@b/c': { license: 'ISC' },
    'node_modules/d': { license: [{ type: 'Public Domain' }, { type: 'MIT' }] },
    'node_modules/e': {},
  }
  expect(dependenciesOf({ packages })).toEqual([
    { name: '@b/c', licence: 'ISC' },
    { name: 'd', licence: 'Public Domain OR MIT' },
    { name: 'e', licence: 'none' },
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
  expect(refusedLicences([{ name: 'a', licence }])).toHaveLength(isAllowed ? 0 : 1)
})

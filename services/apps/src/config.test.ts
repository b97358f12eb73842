import { expect, test } from 'vitest'
import { AppsConfig } from './config.ts'

test.each([
  ['4s', 4_000],
  ['10s', 10_000],
  [undefined, 10_000],
])('an app may take %s', (APP_ANSWER_TIMEOUT, milliseconds) => {
  expect(AppsConfig.shape.APP_ANSWER_TIMEOUT.parse(APP_ANSWER_TIMEOUT)).toBe(milliseconds)
})

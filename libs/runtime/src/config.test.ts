import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Duration, List, ProcessConfig, readConfig, Switch } from './config.ts'

const directory = mkdtempSync(join(tmpdir(), 'config-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('readConfig', () => {
  const Config = z.object({
    ...ProcessConfig.shape,
    DATABASE_URL: z.url(),
    SECRET: z.string().min(20),
    DELAYS: List.pipe(z.array(Duration)),
    SWITCH: Switch,
  })
  const good = { DATABASE_URL: 'postgres://db/shop', SECRET: 's'.repeat(20), DELAYS: '0s,1m' }

  it('reads what is there and fills in what is not', () => {
    expect(readConfig(Config, { ...good, PORT: '9000', UNRELATED: 'x' })).toMatchObject({
      ...good,
      HOST: '0.0.0.0',
      PORT: 9000,
      LOG_LEVEL: 'info',
      DELAYS: [0, 60_000],
      SWITCH: false,
    })
  })

  it('takes an empty variable for one that is not set', () => {
    expect(readConfig(Config, { ...good, PORT: '', LOG_LEVEL: '' })).toMatchObject({ PORT: 8080, LOG_LEVEL: 'info' })
    expect(() => readConfig(Config, { ...good, DATABASE_URL: '' })).toThrow('DATABASE_URL: ')
  })

  it('names every variable that is missing or wrong, and never a value', () => {
    const bad = { DATABASE_URL: 'hunter2', SECRET: 'hunter2', DELAYS: '1m,hunter2', SWITCH: 'hunter2', PORT: 'hunter2' }
    const thrown = expect.objectContaining({
      message: expect.stringMatching(
        /^configuration: (?=.*\bPORT: )(?=.*\bDATABASE_URL: )(?=.*\bSECRET: )(?=.*\bDELAYS\.1: )(?=.*\bSWITCH: )(?!.*hunter2)/,
      ),
    })
    expect(() => readConfig(Config, bad)).toThrow(thrown)
    expect(() => readConfig(Config, {})).toThrow(/^configuration: (?=.*DATABASE_URL: )(?=.*SECRET: )(?=.*DELAYS: )/)
  })

  it('reads a secret from the file that a second variable names, without the line end at the end', () => {
    const WithFiles = Config.extend({
      SECRET: Config.shape.SECRET.meta({ secret: true }),
      CERTIFICATE: z.string().optional().meta({ file: true }),
    })
    const file = join(directory, 'secret')
    const { SECRET, ...others } = good
    writeFileSync(file, `${SECRET}\r\n`)
    const read = (variables: Record<string, string>) => readConfig(WithFiles, { ...others, ...variables })
    expect(read({ SECRET_FILE: file, CERTIFICATE_FILE: file })).toMatchObject({ SECRET, CERTIFICATE: SECRET })
    expect(() => read({ SECRET, SECRET_FILE: file })).toThrow('SECRET_FILE: must not be set beside SECRET')
    expect(() => read({ SECRET_FILE: join(directory, 'none') })).toThrow(
      'SECRET_FILE: names a file that cannot be read',
    )
    expect(() => read({ SECRET_FILE: directory })).toThrow('SECRET_FILE: names a file that cannot be read')
    expect(() => read({})).toThrow(/^configuration: SECRET: is missing; SECRET_FILE may name a file instead$/)
    writeFileSync(file, 'hunter2')
    expect(() => read({ SECRET_FILE: file })).toThrow(/^configuration: SECRET_FILE: the file (?!.*hunter2)/)
    writeFileSync(file, '\n')
    expect(() => read({ SECRET_FILE: file })).toThrow('SECRET_FILE: names an empty file')
  })

  it('reads no file for a setting that is no secret', () => {
    expect(() => readConfig(Config, { ...good, DATABASE_URL: '', DATABASE_URL_FILE: '/etc/hostname' })).toThrow(
      /^configuration: DATABASE_URL: is missing$/,
    )
  })

  it.each(['-1', '65536', '80.5', 'http', '0x', 'NaN', 'Infinity'])('refuses the port %s', (port) => {
    expect(() => readConfig(ProcessConfig, { PORT: port })).toThrow('PORT: ')
    expect(() => readConfig(ProcessConfig, { OPS_PORT: port })).toThrow('OPS_PORT: ')
  })
})

it.each([
  ['0s', 0],
  ['250ms', 250],
  ['20s', 20_000],
  ['5m', 300_000],
  ['30m', 1_800_000],
  ['6h', 21_600_000],
])('the duration %s is %i ms', (text, milliseconds) => {
  expect(Duration.parse(text)).toBe(milliseconds)
})

it.each(['', '5', 's', '5 m', '-1s', '1.5h', '5M', '1d', '1h30m', 'ms'])('%j is no duration', (text) => {
  expect(Duration.safeParse(text).success).toBe(false)
})

it.each([
  ['a', ['a']],
  ['a, b ,c', ['a', 'b', 'c']],
  [',a,,', ['a']],
  ['', []],
])('the list %j has %j', (text, items) => {
  expect(List.parse(text)).toEqual(items)
})

it('a switch is true or false and nothing else', () => {
  expect([Switch.parse('true'), Switch.parse('false'), Switch.parse(undefined)]).toEqual([true, false, false])
  for (const text of ['1', 'yes', 'TRUE', '']) expect(Switch.safeParse(text).success, text).toBe(false)
})

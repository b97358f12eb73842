import { ApiError, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { causeOf } from './error-causes.ts'

const { admin, workerUrl } = await testDatabase('catalog')
const { sql } = openDatabase({ url: workerUrl, applicationName: 'test', poolSize: 1 })
whenDone(() => sql.end())
await admin.unsafe(`
  create table unique_number (number smallint primary key check (number < 10));
  insert into unique_number values (1);
  grant select, insert on unique_number to catalog_worker;
  create table of_others (number smallint)`)

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  )
const caught = (work: () => unknown) => errorOf(Promise.resolve().then(work))
const code = (sqlState: string) => `do $$ begin raise exception using errcode = '${sqlState}'; end $$`

describe('an error of PostgreSQL', () => {
  test.each([
    ['RECORD', '22003', 'a number out of range', 'insert into unique_number values (100000)'],
    ['RECORD', '22P02', 'no id', `select 'x'::uuid`],
    ['RECORD', '22P05', 'a text with NUL', `select (chr(34) || chr(92) || 'u0000' || chr(34))::jsonb ->> 0`],
    ['RECORD', '23502', 'a missing value', 'insert into unique_number values (null)'],
    ['RECORD', '23505', 'a value that is there', 'insert into unique_number values (1)'],
    ['RECORD', '23514', 'a refused value', 'insert into unique_number values (11)'],
    ['BUG', '0A000', 'an unsupported statement', code('0A000')],
    ['BUG', '21000', 'two rows for one', 'select (select generate_series(1, 2))'],
    ['BUG', '42601', 'no SQL', 'selec 1'],
    ['BUG', '42804', 'another type', 'insert into unique_number values (true)'],
    ['BUG', '54000', 'a limit of the server', code('54000')],
    ['BUG', '57014', 'a statement that takes too long', `set statement_timeout = 20; select pg_sleep(60)`],
    ['BUG', 'P0001', 'a function of ours', 'do $$ begin raise exception $r$no$r$; end $$'],
    [
      'WORLD',
      '25006',
      'a server that is read-only',
      'start transaction read only; insert into unique_number values (2)',
    ],
    ['WORLD', '25P02', 'an aborted transaction', code('25P02')],
    ['WORLD', '28000', 'a login', code('28000')],
    ['WORLD', '3F000', 'a missing schema', 'create table nowhere.at_all ()'],
    ['WORLD', '40001', 'a serialization failure', code('40001')],
    ['WORLD', '40P01', 'a deadlock', code('40P01')],
    ['WORLD', '42501', 'a missing grant', 'insert into of_others values (1)'],
    ['WORLD', '42703', 'a missing column', 'select later from unique_number'],
    ['WORLD', '42883', 'a missing function', 'select later()'],
    ['WORLD', '42P01', 'a missing table', 'select from later'],
    ['WORLD', '53100', 'a full disk', code('53100')],
    ['WORLD', '53300', 'no connections left', code('53300')],
    ['WORLD', '55000', 'a prerequisite', code('55000')],
    ['WORLD', '55P03', 'a lock', code('55P03')],
    ['WORLD', '57P01', 'a shutdown', code('57P01')],
    ['WORLD', '57P03', 'a start', code('57P03')],
    ['WORLD', '58030', 'a failing disk', code('58030')],
    ['WORLD', 'XX001', 'a broken page', code('XX001')],
  ])('is of a %s: %s, %s', async (cause, sqlState, _, text) => {
    const error = await errorOf(sql.unsafe(`rollback; ${text}`))
    expect(error).toMatchObject({ code: sqlState })
    expect(causeOf(error)).toBe(cause)
    await sql.unsafe('rollback; reset all').catch(() => undefined)
  })
})

describe('another error', () => {
  const withCode = (code: string) => Object.assign(new Error(code), { code })
  test.each([
    ['RECORD', 'a refusal', () => Promise.reject(unprocessable(['sku'], 'is taken'))],
    ['RECORD', 'a conflict', () => Promise.reject(conflict([], 'changed'))],
    ['RECORD', 'a wrong shape', () => z.uuid().parse('x')],
    ['RECORD', 'no JSON', () => JSON.parse('{')],
    ['BUG', 'a member of nothing', () => (undefined as unknown as { a: string }).a],
    ['BUG', 'a wrong argument', () => Buffer.from(7 as unknown as string)],
    ['BUG', 'a wrong length', () => new Array(-1)],
    ['BUG', 'an assumption', () => Promise.reject(new Error('cannot be'))],
    ['BUG', 'no error at all', () => Promise.reject('thrown')],
    ['BUG', 'undefined in a statement', () => Promise.reject(withCode('UNDEFINED_VALUE'))],
    ['WORLD', 'another service that is away', () => Promise.reject(new ApiError('service_unavailable', 'later'))],
    ['WORLD', 'a limit of requests', () => Promise.reject(new ApiError('rate_limited', 'later'))],
    ['WORLD', 'a closed port', () => fetch('http://127.0.0.1:2')],
    ['WORLD', 'a connection', () => Promise.reject(withCode('ECONNRESET'))],
    ['WORLD', 'a transaction that did not begin', () => Promise.reject(withCode('CONNECT_TIMEOUT'))],
    ['WORLD', 'a full disk of ours', () => Promise.reject(withCode('ENOSPC'))],
    ['WORLD', 'what is behind another error', () => Promise.reject(new Error('x', { cause: withCode('EPIPE') }))],
  ])('is of a %s: %s', async (cause, _, work) => {
    expect(causeOf(await caught(work))).toBe(cause)
  })
})

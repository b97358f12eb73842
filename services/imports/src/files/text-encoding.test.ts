import { describe, expect, it } from 'vitest'
import { chunksOf } from './testing/chunks.ts'
import { encodingDetector, inUtf8 } from './text-encoding.ts'

const TEXT = 'sku,name\nA,Grüße €5 “x”\n'
/** The same text in Windows-1252. */
const WESTERN = Buffer.from('sku,name\nA,Gr\xfc\xdfe \x805 \x93x\x94\n', 'latin1')
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

async function detected(bytes: Buffer, size: number): Promise<string> {
  const detector = encodingDetector()
  const passed = await Array.fromAsync(detector.passed(chunksOf(bytes, size)))
  expect(Buffer.concat(passed)).toEqual(bytes)
  return detector.encoding()
}

async function text(bytes: Buffer, encoding: string, size: number): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of inUtf8(chunksOf(bytes, size), encoding)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('the encoding of a file is found and its text read, wherever its chunks are cut', () => {
  it.each([
    ['UTF-8', Buffer.from(TEXT), 'utf-8', TEXT],
    ['UTF-8 with its byte order mark', Buffer.from(`\ufeff${TEXT}`), 'utf-8', `\ufeff${TEXT}`],
    ['UTF-8 with characters of four bytes', Buffer.from('😀日é'), 'utf-8', '😀日é'],
    ['ASCII', Buffer.from('sku,name\n'), 'utf-8', 'sku,name\n'],
    ['UTF-16 LE', utf16(`${TEXT}😀`), 'utf-16le', `${TEXT}😀`],
    ['UTF-16 BE', utf16(`${TEXT}😀`).swap16(), 'utf-16be', `${TEXT}😀`],
    ['Windows-1252', WESTERN, 'windows-1252', TEXT],
    ['Windows-1252 at the last byte only', Buffer.from('sku,caf\xe9', 'latin1'), 'windows-1252', 'sku,café'],
    ['nothing', Buffer.alloc(0), 'utf-8', ''],
  ])('%s', async (_what, bytes, encoding, expected) => {
    for (const size of [1, 2, 3, 7, 1024]) {
      expect(await detected(bytes, size)).toBe(encoding)
      expect(await text(bytes, encoding, size)).toBe(expected)
    }
  })
})

describe('a text is UTF-8 with damage, not Windows-1252,', () => {
  it.each([
    ['when no more bytes speak against UTF-8 than for it', Buffer.from('\xc3\xa9 \xe9', 'latin1')],
    [
      'when very many do, and more behind them for it',
      Buffer.from(`${'\xe9,'.repeat(10_001)}${'\xc3\xa9'.repeat(10_002)}`, 'latin1'),
    ],
    ['when it has the byte order mark of UTF-8', Buffer.from('\xef\xbb\xbf\xe9', 'latin1')],
    ['when Windows-1252 has no such byte', Buffer.from('caf\x8d', 'latin1')],
    ['when it ends within a character', Buffer.from('日本é').subarray(0, 7)],
  ])('%s', async (_what, bytes) => {
    for (const size of [1, 2, 3, 7, 1024]) expect(await detected(bytes, size)).toBe('utf-8')
  })

  it('and it is Windows-1252 when more do', async () => {
    expect(await detected(Buffer.from('\xc9\xbb \xe9t\xe9', 'latin1'), 1)).toBe('windows-1252')
  })
})

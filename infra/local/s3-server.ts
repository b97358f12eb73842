import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lastLines, startChild } from './child.ts'
import { javaCommand, jvmFlags } from './java.ts'
import { resolveS3Server } from './maven.ts'
import { type Part, type Progress, startPart } from './part.ts'
import { freePort } from './ports.ts'

/** A running S3 server. */
export interface S3Server extends Part {
  readonly url: string
  readonly accessKey: string
  readonly secretKey: string
}

interface S3Options {
  /** Each folder in `buckets` there is a bucket, and its files are the objects. */
  readonly directory: string
  readonly onProgress?: Progress
}

const KEYS = { accessKey: 'local', secretKey: 'local-secret' }

/** Starts S3Proxy on 127.0.0.1, which speaks S3 over a directory: for tests, as the local stack keeps files without it. */
export async function startS3Server(options: S3Options): Promise<S3Server> {
  const directory = resolve(options.directory)
  const log = join(directory, 's3.log')
  const classpath = await resolveS3Server((text) => options.onProgress?.(text))
  const url = `http://127.0.0.1:${await freePort()}`
  mkdirSync(join(directory, 'buckets'), { recursive: true })
  const properties = join(directory, 's3.properties')
  writeFileSync(properties, settings(url, join(directory, 'buckets')))
  const program = ['-DLOG_LEVEL=warn', '-cp', classpath, 'org.gaul.s3proxy.Main', '--properties', properties]
  const part = await startPart({
    name: 'the S3 server',
    launch: () =>
      startChild({
        name: 'the S3 server',
        file: javaCommand(),
        args: [...jvmFlags(160, directory), ...program],
        cwd: directory,
        output: log,
      }),
    isReady: () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    explain: () => lastLines(log),
  })
  return Object.assign(part, { url, ...KEYS })
}

const settings = (url: string, buckets: string) =>
  Object.entries({
    's3proxy.endpoint': url,
    's3proxy.authorization': 'aws-v2-or-v4',
    's3proxy.identity': KEYS.accessKey,
    's3proxy.credential': KEYS.secretKey,
    // The largest upload: a signature that covers the content is checked over all of it.
    's3proxy.v4-max-non-chunked-request-size': 64 * 1024 * 1024,
    'jclouds.provider': 'filesystem-nio2',
    'jclouds.identity': 'unused',
    'jclouds.credential': 'unused',
    'jclouds.filesystem.basedir': buckets,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

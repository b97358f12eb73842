import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ProgramOptions, startManagedProcess } from '../processes/managed-process.ts'
import { freePort, isListening } from '../processes/ports.ts'
import { javaProgram, propertiesText } from './java.ts'
import { resolveS3Server } from './maven.ts'

const KEYS = { accessKey: 'local', secretKey: 'local-secret' }

/**
 * Starts S3Proxy on 127.0.0.1: for tests, since the local stack keeps files without it. `directory` has a folder
 * `buckets`, in which each folder is a bucket and its files are the objects.
 */
export async function startS3Server(options: Omit<ProgramOptions, 'onDeath'>) {
  const directory = resolve(options.directory)
  const log = join(directory, 's3.log')
  const classpath = await resolveS3Server(options.onProgress)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  mkdirSync(join(directory, 'buckets'), { recursive: true })
  const properties = join(directory, 's3.properties')
  writeFileSync(properties, settings(url, join(directory, 'buckets')))
  const program = ['-DLOG_LEVEL=warn', '-cp', classpath, 'org.gaul.s3proxy.Main', '--properties', properties]
  const managed = await startManagedProcess({
    command: javaProgram('the S3 server', log, 160, program),
    isReady: () => isListening(port),
  })
  return Object.assign(managed, { url, ...KEYS })
}

const settings = (url: string, buckets: string) =>
  propertiesText({
    's3proxy.endpoint': url,
    's3proxy.authorization': 'aws-v2-or-v4',
    's3proxy.identity': KEYS.accessKey,
    's3proxy.credential': KEYS.secretKey,
    // The largest upload: the server checks a signature over the whole content.
    's3proxy.v4-max-non-chunked-request-size': 64 * 1024 * 1024,
    'jclouds.provider': 'filesystem-nio2',
    'jclouds.identity': 'unused',
    'jclouds.credential': 'unused',
    'jclouds.filesystem.basedir': buckets,
  })

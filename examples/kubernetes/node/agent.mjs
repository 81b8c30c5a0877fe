// An agent without a model: it says something, asks its memory what a model should see, prints it, and again.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const address = process.env.MEMSIDECAR_ADDRESS ?? '127.0.0.1:7600'
const tokenFile = process.env.MEMSIDECAR_TOKEN_FILE ?? ''
const protos = process.env.AGENT_PROTOS ?? new URL('../../../protos', import.meta.url).pathname
// 0 turns are endless.
const turns = Number(process.env.AGENT_TURNS ?? 0)
const pauseSeconds = Number(process.env.AGENT_PAUSE_SECONDS ?? 10)
const callSeconds = 10
const said = ['I moved to Lisbon.', 'I am allergic to peanuts.', 'Where do I live?']

const loaded = loadSync('memsidecar/v1/memory.proto', { includeDirs: [protos], keepCase: true, enums: String, defaults: true })
const { MemoryService } = grpc.loadPackageDefinition(loaded).memsidecar.v1
const memory = new MemoryService(address, grpc.credentials.createInsecure())

function call(rpc, request) {
  const metadata = new grpc.Metadata()
  // Read at every call: a mounted Secret may be rotated.
  if (tokenFile) metadata.set('authorization', `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`)
  return promisify(memory[rpc].bind(memory))(request, metadata, { deadline: Date.now() + callSeconds * 1000 })
}

async function turn(number) {
  const who = { user_id: 'ana', session_id: 'node' }
  await call('Add', { ...who, message: { role: 'ROLE_USER', content: said[number % said.length] } })
  const context = await call('BuildContext', { ...who, max_tokens: 4000 })
  console.log(`turn ${number}: ${context.messages.length} messages, ${context.total_tokens} tokens`)
  for (const message of context.messages) console.log(`  ${message.role}: ${message.content}`)
}

for (let number = 0; !turns || number < turns; number++) {
  await turn(number)
  await pause(pauseSeconds * 1000)
}
memory.close()

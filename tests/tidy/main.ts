/** `npm run language`: prints what breaks the language rules, and exits with 1 when anything does. */
import { languageComplaints } from './language.ts';
import { readRepository, repositoryFolder } from './repository.ts';

const complaints = languageComplaints(readRepository(repositoryFolder));
for (const { path, line, message } of complaints) process.stdout.write(`${path}:${line} ${message}\n`);
process.exitCode = complaints.length === 0 ? 0 : 1;

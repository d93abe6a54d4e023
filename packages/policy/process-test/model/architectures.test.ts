import { testArchitectures } from '../../test/model/architecture-tests.ts';
import { runtime } from '../../test/tiny-model.ts';

testArchitectures(() => runtime);

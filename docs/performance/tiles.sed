# The rows of the tile lie at constant distances: one address serves them all, and the message adds the distance.
s/0x0:ud V0084\.0/0x100:ud V0072.0/
/ add .* V0082\(0,0\)<1> V0072/d
s/0x0:ud V0085\.0/0x100:ud V0073.0/
/ add .* V0083\(0,0\)<1> V0073/d
s/0x0:ud V0088\.0/0x120:ud V0072.0/
/ add .* V0086\(0,0\)<1> V0072/d
s/0x0:ud V0089\.0/0x120:ud V0073.0/
/ add .* V0087\(0,0\)<1> V0073/d
s/0x0:ud V0092\.0/0x140:ud V0072.0/
/ add .* V0090\(0,0\)<1> V0072/d
s/0x0:ud V0093\.0/0x140:ud V0073.0/
/ add .* V0091\(0,0\)<1> V0073/d
s/0x0:ud V0096\.0/0x160:ud V0072.0/
/ add .* V0094\(0,0\)<1> V0072/d
s/0x0:ud V0097\.0/0x160:ud V0073.0/
/ add .* V0095\(0,0\)<1> V0073/d
s/0x0:ud V0102\.0/0x180:ud V0072.0/
/ add .* V0100\(0,0\)<1> V0072/d
s/0x0:ud V0103\.0/0x180:ud V0073.0/
/ add .* V0101\(0,0\)<1> V0073/d
s/0x0:ud V0106\.0/0x1a0:ud V0072.0/
/ add .* V0104\(0,0\)<1> V0072/d
s/0x0:ud V0107\.0/0x1a0:ud V0073.0/
/ add .* V0105\(0,0\)<1> V0073/d
s/0x0:ud V0110\.0/0x1c0:ud V0072.0/
/ add .* V0108\(0,0\)<1> V0072/d
s/0x0:ud V0111\.0/0x1c0:ud V0073.0/
/ add .* V0109\(0,0\)<1> V0073/d
s/0x0:ud V0114\.0/0x1e0:ud V0072.0/
/ add .* V0112\(0,0\)<1> V0072/d
s/0x0:ud V0115\.0/0x1e0:ud V0073.0/
/ add .* V0113\(0,0\)<1> V0073/d
